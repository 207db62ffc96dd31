import { isolationAtRandom } from '../../contracts/isolation-random'

isolationAtRandom({ runs: 3, calls: 170, steps: 90 })
