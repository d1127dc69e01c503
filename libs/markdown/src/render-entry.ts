/**
 * Renders message text to HTML. Pure: no I/O, the same input and context give the same output. Guarantees: no source
 * HTML passes through; every href is http, https, mailto, tel, sms, xmpp or a path of this server; no content makes it
 * throw. Formulas and code are rendered only where `load-heavy.ts` was imported. The time is bounded only for light
 * content without linkifiers under a limit of steps, so the caller runs everything else in a thread that it can
 * terminate. The context contains only what the sender may see and mention.
 */
export { isLight, LIGHT_STEPS } from './light.ts';
export { compileLinkifier } from './linkifier.ts';
export { emptyContext, render, renderPlain } from './render.ts';
export { StepLimit } from './steps.ts';
export { topicLinks } from './topic-links.ts';
