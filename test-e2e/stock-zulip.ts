/**
 * `zulip-js` replaces the `FormData` of the whole process when it is loaded; other tests of the same worker need the original.
 */
const { FormData } = globalThis;
export const { default: zulip } = await import('zulip-js');
globalThis.FormData = FormData;
