import './components/api/zod-settings'
