declare const ruleset: { extends: unknown[]; rules: Record<string, unknown> };
export default ruleset;
