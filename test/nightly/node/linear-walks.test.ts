import { linearWalks } from '../../contracts/linear-walks'

linearWalks(6_000)
