import { mainJob } from '../contracts/main-job'

// Thousands in the nightly tier.
mainJob(500)
