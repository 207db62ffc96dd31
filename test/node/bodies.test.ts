import { bodyContract } from '../contracts/endpoint/bodies'

// 99 MB in the nightly tier.
bodyContract(2)
