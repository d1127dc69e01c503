/**
 * Evaluates group-setting values (specification 2.2). Pure: what it is given decides, there is no I/O.
 * Whoever decides by it commits on the versions of what it was given: `actor:<id>`, `groups`, `realm`, `channel:<id>`.
 */
export * from './channel-access.ts';
export * from './group-setting.ts';
