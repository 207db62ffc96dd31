import { sameAnswersContract } from '../contracts/same-answers'

// More in the nightly tier.
sameAnswersContract(60, false)
