/**
 * The rules for `/openapi.json`, beside those of Spectral itself: `npx @stoplight/spectral-cli lint --ruleset
 * services/gateway/spectral.mjs http://127.0.0.1:9991/openapi.json`
 */
import spectralRulesets from '@stoplight/spectral-rulesets';

const operation = '$.paths[*][get,post,put,patch,delete,head]';

/** A rule that `isKept` decides for each object of `given`. */
const rule = (given, message, isKept) => ({
  given,
  message,
  severity: 'error',
  // biome-ignore lint/suspicious/noThenProperty: rules of Spectral have it
  then: { function: (value) => (isKept(value) ? undefined : [{ message }]) },
});

const isFile = ({ format }) => format === 'binary';
/** A number, a boolean or a fixed value, or a text or JSON value whose size is limited. */
const isBounded = (schema) => schema['x-max-length'] !== undefined || schema.maxLength !== undefined || isFile(schema);
const schemaOf = ({ schema, content }) => schema ?? Object.values(content ?? {})[0]?.schema ?? {};
const saysDeprecated = (...texts) => texts.some((text) => /\bdeprecated\b/i.test(text ?? ''));

export default {
  extends: [spectralRulesets.oas],
  rules: {
    'natter-parameters-are-bounded': rule(
      `${operation}.parameters[*]`,
      'A parameter needs a bound of its size.',
      (parameter) => isBounded(schemaOf(parameter)),
    ),
    'natter-fields-are-bounded': rule(
      `${operation}.requestBody.content[*].schema.properties[*]`,
      'A field of a body needs a bound of its size.',
      isBounded,
    ),
    'natter-answers-have-examples': rule(
      `${operation}.responses[*].content[application/json]`,
      'An answer needs an example.',
      ({ example, examples }) => example !== undefined || examples !== undefined,
    ),
    'natter-requests-have-examples': rule(
      `${operation}.requestBody.content[application/x-www-form-urlencoded]`,
      'A request needs an example.',
      ({ example }) => example !== undefined,
    ),
    'natter-errors-name-codes': rule(
      `${operation}.responses[?(@property >= '400')]`,
      'A refusal names its codes.',
      ({ description }) => /Codes: `[A-Z_]+`/.test(description),
    ),
    'natter-operations-name-callers': rule(
      operation,
      'An operation says who may call it.',
      (one) => one['x-callers'] !== undefined,
    ),
    'natter-deprecation-is-marked': rule(
      operation,
      'An operation is marked as deprecated if and only if its summary says so.',
      ({ summary, deprecated = false }) => saysDeprecated(summary) === deprecated,
    ),
  },
};
