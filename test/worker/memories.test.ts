import { beforeAll } from 'vitest'
import { memoryLifeContract } from '../contracts/memory-life'
import { bindings, d1Adapters, migrate } from '../support/bindings'
import { TestClock } from '../support/scope'

beforeAll(migrate)

memoryLifeContract('D1', async () => {
  const clock = new TestClock()
  return { connection: d1Adapters(clock).connection, bucket: bindings.IMAGES, clock }
})
