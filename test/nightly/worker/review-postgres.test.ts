import { reviewContract } from '../../contracts/review'

reviewContract(true)
