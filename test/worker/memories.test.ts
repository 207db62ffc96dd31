import { beforeAll } from 'vitest'
import { codeMeaningContract } from '../contracts/code-meaning'
import { codeNamesContract } from '../contracts/code-names'
import { memoryCostContract } from '../contracts/memory-costs'
import { memoryLifeContract } from '../contracts/memory-life'
import { memoryListContract } from '../contracts/memory-lists'
import { orientationContract } from '../contracts/orientation'
import { bindings, d1Adapters, migrate } from '../support/bindings'
import { TestClock } from '../support/scope'

beforeAll(migrate)

const ground = async () => {
  const clock = new TestClock()
  return { connection: d1Adapters(clock).connection, bucket: bindings.IMAGES, clock }
}
memoryLifeContract('D1', ground)
orientationContract('D1', ground)
codeMeaningContract('D1', ground)
codeNamesContract('D1', ground)
memoryCostContract('D1', ground)
memoryListContract('D1', ground)
