import { beforeAll } from 'vitest'
import { feedKeepingContract } from '../contracts/keeping/change-feed'
import { imageRemovalContract } from '../contracts/keeping/images'
import { modelCallsContract } from '../contracts/keeping/model-calls'
import { outboxContract } from '../contracts/keeping/outbox'
import { scheduleContract } from '../contracts/keeping/schedule'
import { scheduleCostContract } from '../contracts/keeping/schedule-costs'
import { bindings, d1Adapters, migrate } from '../support/bindings'
import { TestClock } from '../support/scope'

beforeAll(migrate)

const make = async () => {
  const clock = new TestClock()
  return { connection: d1Adapters(clock).connection, bucket: bindings.IMAGES, clock }
}

outboxContract('D1', make)

modelCallsContract('D1', make)

imageRemovalContract('D1', make)

scheduleContract('D1', make)

feedKeepingContract('D1', make)

scheduleCostContract(8_000)
