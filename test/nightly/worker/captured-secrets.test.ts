import { beforeAll } from 'vitest'
import { capturedSecrets } from '../../contracts/captured-secrets'
import { migrate } from '../../support/bindings'

beforeAll(migrate)

capturedSecrets(1)
