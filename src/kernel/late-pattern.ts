// Owns patterns that are made when they are first used. V8 reads a literal twice: when it reads the file, even where nothing runs
// the function around it, and when it makes the pattern. With classes of Unicode, such as `\p{L}`, each takes some 50 to 200 µs.

import { once } from './once.ts';

export const latePattern = (source: string, flags: string): (() => RegExp) => once(() => new RegExp(source, flags));
