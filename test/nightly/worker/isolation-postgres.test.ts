// The same on PostgreSQL, which these tests find by its binding.
import './isolation.test'
