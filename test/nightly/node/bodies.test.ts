import { bodyContract } from '../../contracts/endpoint/bodies'

bodyContract(10)
