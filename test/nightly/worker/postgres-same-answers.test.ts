import { sameAnswersContract } from '../../contracts/same-answers'

sameAnswersContract(300, true)
