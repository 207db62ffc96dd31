import { createRemoteJWKSet, errors, jwtVerify } from 'jose'
import { readEmail, SignInRefused } from '../../domain/identity/sign-in'
import type { Clock } from '../../ports/clock'
import type { AccessGate } from '../../ports/sign-in'

/** Seconds by which the clocks may differ. */
const TOLERANCE_S = 30

/**
 * Creates the verifier of `Cf-Access-Jwt-Assertion` by the public keys of the team. A header without a valid signature, as anyone can send
 * to a server that Access does not protect, is refused.
 *
 * @param team URL of the team, such as https://acme.cloudflareaccess.com
 * @param audience tag of the application
 */
export function createAccessGate(
  { team, audience }: { readonly team: string; readonly audience: string },
  clock: Clock,
): AccessGate {
  const keys = createRemoteJWKSet(new URL(`${team}/cdn-cgi/access/certs`))
  return {
    async personOf(assertion) {
      const { payload } = await jwtVerify(assertion, keys, {
        ...{ issuer: team, audience, algorithms: ['RS256', 'ES256'], clockTolerance: TOLERANCE_S },
        ...{ requiredClaims: ['exp', 'iat'], currentDate: new Date(clock.now()) },
      }).catch((error: unknown) => {
        throw new SignInRefused(error instanceof errors.JOSEError && !isOutage(error) ? 'assertion' : 'unavailable')
      })
      // A service token has no address.
      const email = readEmail(payload.email)
      if (email === null) throw new SignInRefused('no_address')
      return { email }
    },
  }
}

/** Whether the keys could not be fetched. */
export const isOutage = (error: errors.JOSEError): boolean =>
  error instanceof errors.JWKSTimeout || error.code === 'ERR_JOSE_GENERIC'
