import { mainJob } from '../../contracts/main-job'

mainJob(3_000, true)
