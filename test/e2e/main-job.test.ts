import { mainJob } from '../contracts/main-job'

// Thousands, and a restart with them, in the nightly tier.
mainJob(500, false)
