// Owns the one deep import: the pool alone loads in a third of the time of the whole package, which types only the whole.

declare module 'undici/lib/dispatcher/pool.js';
