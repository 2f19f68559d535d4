// Owns the reasons why an address could not be reached or a connection was lost, in words that a person can act on.
// Reads error codes, never messages.

import { errorCode } from './error-code.ts';

const REASONS: Readonly<Record<string, string>> = {
  ...withCodes('nothing listens at its address', 'ECONNREFUSED'),
  ...withCodes('the name in its address is not known', 'ENOTFOUND', 'EAI_NONAME', 'EAI_NODATA'),
  ...withCodes('the name in its address cannot be looked up now', 'EAI_AGAIN', 'EAI_FAIL'),
  ...withCodes('its address does not answer', 'ETIMEDOUT'),
  ...withCodes(
    'there is no route to its address',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'EHOSTDOWN',
    'ENETDOWN',
    'EADDRNOTAVAIL',
  ),
  ...withCodes('it hung up', 'ECONNRESET', 'EPIPE', 'ECONNABORTED'),
  ...withCodes('the system has no room for another connection now', 'EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM'),
  ...withCodes('it does not speak TLS', 'EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'),
  ...withCodes(
    'its certificate is not signed by a trusted authority',
    ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'CERT_UNTRUSTED', 'INVALID_CA'],
  ),
  ...withCodes('its certificate is out of date', 'CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'),
  ...withCodes('its certificate was revoked', 'CERT_REVOKED'),
  ...withCodes('its certificate is for another name', 'ERR_TLS_CERT_ALTNAME_INVALID', 'HOSTNAME_MISMATCH'),
  ...withCodes(
    'it wants another client certificate',
    ...['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA'],
    ...['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', 'ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN'],
  ),
};

/** Ends with the code, because people search for it. */
export function networkReason(error: unknown): string {
  const code = errorCode(error);
  if (code === undefined) return 'it could not be reached';
  return `${REASONS[code] ?? 'it could not be reached'} (${code})`;
}

function withCodes(reason: string, ...codes: readonly string[]): Record<string, string> {
  return Object.fromEntries(codes.map((code) => [code, reason]));
}
