// Owns the public surface of "plexus/testing": what our own tests use, and hosts may use too.

export { createFakeClock, type FakeClock } from './fake-clock.ts';
export { createFakeServer, type FakeServer, type FakeTool } from './fake-server.ts';
export { createScriptedTransport, type ScriptedTransport } from './scripted-transport.ts';
