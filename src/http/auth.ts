import type { Config } from '../config'
import { Problem } from '../domain/errors'
import type { Principal } from '../domain/scope'
import { isLoopback } from './guard'

/** Who a request acts for (platform contract §5). Until keys exist there is one org, for requests from and to this machine. */
export const LOCAL: Principal = {
  org: 'local',
  projects: null,
  owner: 'local',
  role: 'admin',
  agent: null,
  keyId: 'local',
}

/** @throws Problem forbidden when open mode is asked by, or as, another machine */
export function refuseStrangers(request: Request, config: Config): void {
  if (config.authMode !== 'open') return
  const client = request.headers.get('cf-connecting-ip')
  if (!isLoopback(new URL(request.url).hostname) || (client !== null && !isLoopback(client)))
    throw new Problem('forbidden', 'AUTH_MODE=open serves only requests from and to this machine (localhost)')
}

/** @throws Problem unauthorized */
export function authenticate(request: Request, config: Config): Principal {
  // A presented credential always counts, also in open mode; none is known yet, so each is wrong.
  if (request.headers.has('authorization')) throw new Problem('unauthorized', 'The credential is not valid')
  if (config.authMode === 'required')
    throw new Problem(
      'unauthorized',
      'A credential is required. This deployment has none configured: set AUTH_MODE=open for use on one machine',
    )
  return LOCAL
}
