// Owns how a key is spelled where words are joined by underscores; it stands alone, so that the schema and its readers share it.

export const snakeCase = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
