import { DAY_MS, MINUTE_MS } from '../../domain/time'
import type { Clock } from '../../ports/clock'
import type { Notices, Webhook } from '../../ports/notices'
import type { Step } from './schedule'

/** Notices of one request to the webhook. */
const TOGETHER = 100

/** Sends each new condition to the webhook, and again after a day while it holds. A failed request is repeated by the next run. */
export const noticeStep = ({
  notices,
  webhook,
  clock,
}: {
  readonly notices: Notices
  readonly webhook: Webhook
  readonly clock: Clock
}): Step => ({
  name: 'notices',
  every: 5 * MINUTE_MS,
  rounds: 5,
  round: async () => {
    const due = await notices.due(clock.now() - DAY_MS, TOGETHER)
    if (due.length > 0) {
      await webhook.send(due)
      await notices.markSent(due)
    }
    return { done: due.length, next: due.length < TOGETHER ? null : 'more' }
  },
})
