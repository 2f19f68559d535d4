// Owns when each failure happens, in a sentence for docs/errors.md; what the failure says itself is in `src/model/errors.ts`.

import type { FailureCode } from '../../../src/model/errors.ts';

export const causes: Readonly<Record<FailureCode, string>> = {
  CONFIG_INVALID: 'A configuration file, an entry or an option has a mistake.',
  CONFIG_UNREADABLE: 'A configuration file that was named does not exist, or you may not read it.',
  CONFIG_UNWRITABLE: 'A command such as `plexus add` cannot write its file.',
  OUTPUT_UNWRITABLE: 'The file that a command should write its output to cannot be written.',
  ENV_MISSING: 'An entry in a file of your own reads an environment variable that is not set and has no default.',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how a person writes a placeholder
  INPUT_MISSING: 'An entry reads `${input:…}`, and the question was never answered.',
  SERVER_UNKNOWN: 'A command or a method names a server that is not configured.',
  SERVER_DENIED:
    'A setting takes the server out of use: it is disabled, on a deny list, or missing from an allow list.',
  STORE_UNWRITABLE: 'The state or cache folder of Plexus cannot be written.',
  STORE_UNREADABLE: 'A file in the cache folder is damaged. Plexus drops it and goes on.',
  SERVER_UNTRUSTED: 'A file of the workspace defines the server, and you have not approved it as it is now.',
  LOGINS_UNUSABLE:
    'The file of logins is damaged, of a newer version or unreadable, or its key cannot be reached. It stays as it is.',
  MODEL_REFUSED:
    "The agent's model refuses the request: a wrong key, name or address, or a request that it cannot take.",
  MODEL_UNSET: 'No model is chosen for the agent, or its key is missing.',
  MODEL_UNAVAILABLE:
    "The agent's model cannot be reached, is overloaded, or its answer broke off; it was asked again several times.",
  CONVERSATION_UNUSABLE:
    'Another process has the conversation open, or its file is damaged or of a newer version. It stays as it is.',
  AUTH_REQUIRED: 'The remote server wants a login that Plexus does not have, or no longer has.',
  AUTH_FAILED: 'The remote server refused the token or the headers of its entry.',
  LOGIN_FAILED:
    'The login itself did not succeed: metadata that lies, a refusal, an answer that does not belong to it, nobody at the page.',
  LOGIN_UNAVAILABLE:
    'The authorization server cannot be reached, or answers with a failure of its own. Nothing that is stored changes.',
  SPAWN_FAILED:
    'The program of a local server could not be started: it is not installed, or its folder does not exist.',
  STARTUP_TIMEOUT:
    'The server did not answer within `startup_timeout_sec`, or a call waited that long for a server that is down.',
  CONNECTION_LOST: 'The process ended or the address cannot be reached. Nothing of the call was sent.',
  PROTOCOL_BROKEN: 'The server answered with something that is not MCP.',
  REQUIRED_NOT_READY: 'A server with `required = true` was not ready in time, so `createRuntime()` failed.',
  SERVERS_NOT_READY: '`ready({ orThrow: true })` waited as long as it may, and servers are still not ready.',
  RUNTIME_CLOSED: 'The program called a method after `close()`.',
  TOOL_UNKNOWN: 'No tool has the name that was called, or its server was replaced since the turn began.',
  RESOURCE_UNKNOWN: 'No server has a resource with that uri.',
  RESOURCE_AMBIGUOUS: 'Several servers may have the resource.',
  PROMPT_UNKNOWN: 'No server has a prompt of that name.',
  NOT_OFFERED: 'The server does not support that part of the protocol.',
  CURSOR_INVALID: 'The cursor was changed, or comes from elsewhere.',
  LIST_TOO_LONG: 'A list of the server is longer than Plexus reads. What came before the limit is used.',
  CALL_DENIED: 'A rule, or the permission gate of the host, denies the call.',
  APPROVAL_REFUSED: 'The call needs a yes, and the answer was no or there was nobody to ask.',
  TOOL_DRIFTED: 'With `frozen`, the tool is not exactly as `plexus.lock` records it.',
  LOCK_INVALID: '`plexus.lock` cannot be read, or was edited by hand.',
  ARGUMENTS_BAD: 'The arguments do not fit the schema of the tool. The server was not asked.',
  REQUEST_REFUSED: 'The server answered with a protocol error or an HTTP refusal.',
  RATE_LIMITED:
    'The server answered 429, and the wait that it names is too long, or the second attempt was refused too.',
  REQUEST_TIMEOUT: 'The server did not answer a request for a list, a resource or a prompt.',
  ANSWER_BROKEN: 'The answer to a request for a list, a resource or a prompt cannot be used.',
  CIRCUIT_OPEN:
    'Three calls in a row failed because the server was out; calls are refused for a while to let it recover.',
  MESSAGE_TOO_LARGE: 'One message of the server is larger than `max_message_bytes`.',
  RESULT_BROKEN: 'The result of a tool is not a result as the protocol defines it.',
  CALL_ID_TAKEN: 'The host gave a `callId` that a running call has.',
  CALL_TIMEOUT: 'The call reached its time limit, or its server was silent for too long.',
  OUTCOME_UNKNOWN: 'The connection ended after the call was sent and before its answer came.',
  QUESTIONS_EXCEEDED: 'The server asked more than ten questions during one call.',
  CALL_CANCELLED: 'The host aborted the call, or the runtime closed.',
  GATEWAY_RUNNING: 'A gateway was to be started on a state folder that has one.',
  GATEWAY_NEWER: 'The gateway that runs speaks a newer protocol than this Plexus.',
  GATEWAY_UNREACHABLE: 'No gateway could be joined or started, or it refuses this client.',
  SESSION_UNKNOWN: 'A session id is not known. Kept for hosts that serve sessions of their own.',
  CONVERSATION_UNKNOWN: 'No conversation with this id is kept; it may have expired.',
  INTERNAL: 'A bug in Plexus.',
};
