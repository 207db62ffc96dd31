import type { ChangeNotifier, Woken } from '../../ports/change-notifier'
import type { FeedObject } from './object'
import { waited } from './object'

/**
 * Creates a notifier with one feed object for each organization. @param onFailure is called when it does not respond; readers only poll
 */
export function createFeedNotifier(
  namespace: DurableObjectNamespace<FeedObject>,
  onFailure: (error: unknown) => void,
): ChangeNotifier {
  async function asked<T>(request: () => PromiseLike<T>, otherwise: T): Promise<T> {
    try {
      return await request()
    } catch (error) {
      onFailure(error)
      return otherwise
    }
  }
  const of = (org: string) => namespace.getByName(org)
  return {
    publish: (org, sights) => asked(() => of(org).tell(sights === null ? null : [...sights]), undefined),
    mark: (org) => asked<string | null>(() => of(org).mark(), null),
    wait: (org, listener, since, ms) => asked<Woken | null>(() => waited(of(org), { listener, since }, ms), null),
    admit: (org, stream, most) => asked(() => of(org).admit(stream, most), true),
    closeStream: (org, stream) => asked(() => of(org).leave(stream), undefined),
  }
}
