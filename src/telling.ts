// Owns what a host is told beside an answer: that something went wrong, without secrets, and that whoever is told cannot break
// what tells it.

import type { RuntimeEvent } from './events.ts';
import { type Emit, Emitter } from './kernel/emitter.ts';
import { RuntimeError } from './model/errors.ts';
import type { Redactor } from './shaping/redact.ts';

type OnError = (error: unknown) => void;

/** A host that throws where it is only told something must not break what tells it. */
export function createOnError(given: OnError = warn, redactor: Redactor): OnError {
  return (error) => {
    try {
      given(redactor.error(error));
    } catch (thrown) {
      warn(thrown);
    }
  };
}

export interface Events {
  readonly emit: Emit<RuntimeEvent>;
  readonly on: Emitter<RuntimeEvent>['on'];
}

/** Nothing leaves with a secret in it; where nobody listens, nothing is looked through. */
export function createEvents(onError: OnError, redactor: Redactor): Events {
  const emitter = new Emitter<RuntimeEvent>(onError);
  return {
    emit: (event) => {
      if (emitter.isHeard) emitter.emit(redactor.value(event));
    },
    on: (listener) => emitter.on(listener),
  };
}

/** For what goes wrong each time in the same way, such as a disk that is full. */
export function onceOnly(onError: OnError): OnError {
  let isTold = false;
  return (error) => {
    if (!isTold) onError(error);
    isTold = true;
  };
}

/** Nothing of worth is lost with a file of the cache; that one broke is worth a word. */
export function dropped(onError: OnError): (file: string) => void {
  return (file) => onError(new RuntimeError('STORE_UNREADABLE', { what: file }));
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}
