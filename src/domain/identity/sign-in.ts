/** Why a sign-in was refused, for the log; the person sees one message for all that an attacker could cause. */
export type SignInFault =
  | 'assertion'
  | 'state'
  | 'denied'
  | 'issuer'
  | 'token'
  | 'no_address'
  | 'unverified_address'
  | 'unknown_address'
  | 'unavailable'

/** A sign-in by an identity provider was refused. */
export class SignInRefused extends Error {
  constructor(
    readonly fault: SignInFault,
    /** The address, once it is verified. */
    readonly email: string | null = null,
  ) {
    super(`sign-in refused: ${fault}`)
    this.name = 'SignInRefused'
  }
}

/** One sign-in at an OpenID Connect provider; the browser holds it in a cookie until the provider sends the person back. */
export interface StartedSignIn {
  readonly state: string
  readonly nonce: string
  /** The secret of PKCE. */
  readonly verifier: string
}

const MAX_EMAIL = 254
/** ASCII only: folding the case of other letters would equate addresses of different persons. */
const EMAIL = /^[\x21\x23-\x3b\x3d\x3f\x41-\x7e]+@[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i

/** Returns an e-mail address in the form in which addresses are compared; null for anything else. */
export function readEmail(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > MAX_EMAIL || !EMAIL.test(value.trim())) return null
  return value.trim().toLowerCase()
}
