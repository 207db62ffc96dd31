import { isolationAtRandom } from '../../contracts/isolation-random'

isolationAtRandom(3, 90)
