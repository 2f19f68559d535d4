// Owns the one deep import: the client alone loads in a third of the time of the whole package, which types only the whole.

declare module 'undici/lib/dispatcher/client.js';
