import { beforeAll } from 'vitest'
import { scheduleCostContract } from '../../contracts/keeping/schedule-costs'
import { migrate } from '../../support/bindings'

beforeAll(migrate)

scheduleCostContract(20_000)
