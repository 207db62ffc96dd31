import type { StartedSignIn } from '../domain/identity/sign-in'

/** A person whose address an identity provider has verified. */
export interface VerifiedPerson {
  /** In lower case. */
  readonly email: string
}

/** Verifies the assertion that Cloudflare Access adds to each request that it lets through. */
export interface AccessGate {
  /** @throws SignInRefused for an assertion of another team or application, an expired one, or one without an address */
  personOf(assertion: string): Promise<VerifiedPerson>
}

/** An OpenID Connect provider: authorization code with PKCE. */
export interface OpenIdProvider {
  /** Begins a sign-in. @returns the address of the provider, and the values that the browser must hold */
  begin(redirectUri: string): Promise<{ readonly location: string; readonly started: StartedSignIn }>
  /**
   * Finishes a sign-in with the parameters that the provider sent.
   *
   * @throws SignInRefused unless they belong to this sign-in and prove a verified address
   */
  finish(parameters: URLSearchParams, started: StartedSignIn, redirectUri: string): Promise<VerifiedPerson>
}
