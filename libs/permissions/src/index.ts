/**
 * Evaluates group-setting values: a value is the id of a group, or a list of users and direct subgroups. Pure, without
 * I/O: the result depends on the arguments only. Callers commit on the versions of those arguments: `actor:<id>`,
 * `groups`, `realm`, `channel:<id>`.
 */
export * from './channel-access.ts';
export * from './group-setting.ts';
