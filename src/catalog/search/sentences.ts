// Owns cutting a query into its sentences: each of them may ask for another tool.

const end = /[.!?;]+(?=\s|$)|[\n。！？；]+|,? (?:and then|and also|as well as|additionally|then)\b/i;

export const sentencesOf = (text: string): readonly string[] => text.split(end);
