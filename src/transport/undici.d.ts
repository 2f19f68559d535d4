// Owns the one deep import of undici: its client alone loads in a third of the time of the package, but has no types of its own.

declare module 'undici/lib/dispatcher/client.js';
