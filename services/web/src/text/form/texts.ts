/** Texts by key. A text with a count has one form for each plural category of its language. */
export type Texts<Category extends string> = Readonly<Record<string, string | Readonly<Record<Category, string>>>>;
