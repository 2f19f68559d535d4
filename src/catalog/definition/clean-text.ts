// Owns nothing: what cleans texts of strangers is needed below the catalog as well, and lives in the kernel.

export {
  cleanText,
  hidesAnything,
  hidesSomething,
  replaceHidden,
  showHidden,
} from '../../kernel/clean-text.ts';
