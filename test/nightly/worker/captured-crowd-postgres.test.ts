// The same on PostgreSQL, which these tests find by its binding.
import '../../worker/captured-crowd.test'
