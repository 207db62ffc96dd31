import { beforeAll } from 'vitest'
import { grepMeans } from '../contracts/grep'
import { adaptersHere, migrateHere } from '../support/adapters-here'
import { DATABASE_NAME } from '../support/database'
import { TestClock } from '../support/scope'

beforeAll(migrateHere)
grepMeans(DATABASE_NAME, () => adaptersHere(new TestClock()))
