/**
 * Secrets as in the documentation of their providers: provider, documentation, and a text whose part in «…» is random.
 * The sets were written before the rules were read (`first`, `second`) and before they were changed again (`third`);
 * bench/records/secrets.md has the results at that time. Scanners do not mistake this file for a leak.
 */
export const PROVIDER_SETS: Readonly<Record<'first' | 'second' | 'third', string>> = {
  first: `
Stripe secret key | docs.stripe.com/api/authentication | curl https://api.stripe.com/v1/charges -u «sk_live_[A-Za-z0-9]{24}»:
Stripe webhook secret | docs.stripe.com/webhooks | const endpointSecret = "«whsec_[A-Za-z0-9]{32}»";
GitHub fine-grained token | docs.github.com/authentication | gh auth login --with-token <<< «github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}»
GitLab personal token | docs.gitlab.com/user/profile/personal_access_tokens | curl --header "PRIVATE-TOKEN: «glpat-[A-Za-z0-9_-]{20}»" "https://gitlab.example.com/api/v4/projects"
GitLab runner token | docs.gitlab.com/runner/register | gitlab-runner register --url https://gitlab.com --token «glrt-[A-Za-z0-9_-]{20}»
AWS access key pair | docs.aws.amazon.com/cli | aws_secret_access_key = «[A-Za-z0-9/+]{40}»
AWS Bedrock API key | docs.aws.amazon.com/bedrock/api-keys | export AWS_BEARER_TOKEN_BEDROCK=«ABSKQmVkcm9ja0FQSUtleS[A-Za-z0-9+/]{110}»
Google OAuth client secret | developers.google.com/identity | "client_secret": "«GOCSPX-[A-Za-z0-9_-]{28}»",
Google OAuth refresh token | developers.google.com/identity/protocols/oauth2 | refresh token from the playground: «1//0[A-Za-z0-9_-]{98}»
Azure SAS | learn.microsoft.com/azure/storage/common/storage-sas-overview | https://acme.blob.core.windows.net/c/b.txt?sv=2022-11-02&sr=b&sp=r&sig=«[A-Za-z0-9]{40}%3D»
Azure DevOps PAT (new) | learn.microsoft.com/azure/devops | az devops login with «[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}»
Azure Service Bus | learn.microsoft.com/azure/service-bus-messaging | Endpoint=sb://acme.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=«[A-Za-z0-9+/]{43}=»
Azure Cognitive | learn.microsoft.com/azure/ai-services | -H "Ocp-Apim-Subscription-Key: «[a-f0-9]{32}»"
OpenAI service account | platform.openai.com/docs | please use «sk-svcacct-[A-Za-z0-9_-]{58}T3BlbkFJ[A-Za-z0-9_-]{58}»
Anthropic OAuth token | docs.anthropic.com/en/docs/claude-code | CLAUDE_CODE_OAUTH_TOKEN «sk-ant-oat01-[A-Za-z0-9_-]{93}AA»
Groq | console.groq.com/docs | client = Groq(api_key="«gsk_[A-Za-z0-9]{52}»")
Perplexity | docs.perplexity.ai | we call it with «pplx-[A-Za-z0-9]{48}» today
Mistral | docs.mistral.ai | MISTRAL_API_KEY=«[A-Za-z0-9]{32}»
Fireworks | docs.fireworks.ai | Authorization: Bearer «fw_[A-Za-z0-9]{22}»
OpenRouter | openrouter.ai/docs | the key «sk-or-v1-[a-f0-9]{64}» is for tests
Cerebras | inference-docs.cerebras.ai | CEREBRAS key «csk-[a-z0-9]{48}»
ElevenLabs | elevenlabs.io/docs | -H "xi-api-key: «sk_[a-f0-9]{48}»"
AssemblyAI | assemblyai.com/docs | aai.settings.api_key = "«[a-f0-9]{32}»"
Langfuse | langfuse.com/docs | LANGFUSE_SECRET_KEY="«sk-lf-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}»"
Weights & Biases | docs.wandb.ai | wandb login «[a-f0-9]{40}»
Exa | docs.exa.ai | exa = Exa(api_key="«[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}»")
Jina | jina.ai | Authorization: Bearer «jina_[a-f0-9]{32}[A-Za-z0-9_-]{28}»
Cloudflare API token | developers.cloudflare.com/fundamentals/api | export CLOUDFLARE_API_TOKEN='«[A-Za-z0-9_-]{40}»'
Cloudflare origin CA key | developers.cloudflare.com/ssl/origin | origin CA key «v1.0-[a-f0-9]{24}-[a-f0-9]{146}»
DigitalOcean | docs.digitalocean.com/reference/api | doctl auth init -t «dop_v1_[a-f0-9]{64}»
Vercel | vercel.com/docs/cli | vercel deploy --token «[A-Za-z0-9]{24}»
Fly.io | fly.io/docs/security/tokens | FLY_API_TOKEN="FlyV1 «fm2_[A-Za-z0-9+/]{300}»"
Railway | docs.railway.com | RAILWAY_TOKEN=«[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}» railway up
Supabase access token | supabase.com/docs/reference/cli | supabase login --token «sbp_[a-f0-9]{40}»
Neon API key | api-docs.neon.tech | «napi_[a-z0-9]{64}»
PlanetScale password | planetscale.com/docs | mysql://abc:«pscale_pw_[A-Za-z0-9_-]{43}»@aws.connect.psdb.cloud/main
MongoDB Atlas | mongodb.com/docs/atlas | mongodb+srv://app:«[A-Za-z0-9]{16}»@cluster0.ab1cd.mongodb.net/
Upstash | upstash.com/docs | UPSTASH_REDIS_REST_TOKEN="«A[A-Za-z0-9]{60}==»"
PostgreSQL | postgresql.org/docs/current/libpq-envars | PGPASSWORD=«[A-Za-z0-9]{14}» psql -h db -U app
MySQL | dev.mysql.com/doc | mysql -u root -p«[A-Za-z0-9]{14}» shop
Databricks | docs.databricks.com | databricks configure with «dapi[a-f0-9]{32}-2»
Confluent | docs.confluent.io | confluent api-key store --api-secret «cflt[A-Za-z0-9+/]{60}»
Slack bot token | api.slack.com/authentication/token-types | SLACK_BOT_TOKEN=«xoxb-[0-9]{12}-[0-9]{13}-[A-Za-z0-9]{24}»
Slack webhook | api.slack.com/messaging/webhooks | curl -X POST https://hooks.slack.com/services/T0«[A-Z0-9]{8}/B0[A-Z0-9]{8}/[A-Za-z0-9]{24}»
Discord bot | discord.com/developers/docs | client.login('«M[A-Za-z0-9]{25}.G[A-Za-z0-9]{5}.[A-Za-z0-9_-]{38}»');
Telegram | core.telegram.org/bots/api | https://api.telegram.org/bot«[0-9]{10}:AA[A-Za-z0-9_-]{33}»/getMe
Twilio auth token | twilio.com/docs | twilio_auth_token = '«[a-f0-9]{32}»'
SendGrid | docs.sendgrid.com | the mailer uses «SG.[A-Za-z0-9_-]{22}.[A-Za-z0-9_-]{43}» on production
Mailgun new key | documentation.mailgun.com | curl --user 'api:«[a-f0-9]{32}-[a-f0-9]{8}-[a-f0-9]{8}»' https://api.mailgun.net/v3/domains
Postmark | postmarkapp.com/developer | -H "X-Postmark-Server-Token: «[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}»"
Brevo | developers.brevo.com | --header 'api-key:«xkeysib-[a-f0-9]{64}-[A-Za-z0-9]{16}»'
Shopify admin token | shopify.dev/docs/apps | X-Shopify-Access-Token: «shpat_[a-f0-9]{32}»
Square | developer.squareup.com/docs | square token «EAAA[A-Za-z0-9_-]{60}» works
Razorpay | razorpay.com/docs | new Razorpay({ key_id: 'rzp_live_ab12cd34ef56gh', key_secret: '«[A-Za-z0-9]{24}»' })
Plaid access token | plaid.com/docs | access token «access-production-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}»
Coinbase | docs.cdp.coinbase.com | CB-ACCESS-SIGN secret, CB_API_SECRET="«[A-Za-z0-9+/]{86}==»"
Paddle | developer.paddle.com | Paddle: «pdl_live_apikey_[a-z0-9]{26}_[A-Za-z0-9]{22}_[A-Za-z0-9]{3}»
npm legacy | docs.npmjs.com | //registry.npmjs.org/:_authToken=«[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}»
RubyGems | guides.rubygems.org | :rubygems_api_key: «rubygems_[a-f0-9]{48}»
NuGet | learn.microsoft.com/nuget | dotnet nuget push a.nupkg --api-key «oy2[a-z0-9]{43}» --source https://api.nuget.org/v3/index.json
Gradle | docs.gradle.org | signing.password=«[A-Za-z0-9]{18}»
Docker config auth | docs.docker.com/reference/cli/docker/login | {"auths":{"https://index.docker.io/v1/":{"auth":"«[A-Za-z0-9]{46}==»"}}}
JFrog reference token | jfrog.com/help | reference token «cmVmdGtuO[A-Za-z0-9]{55}»
Codecov | docs.codecov.com | CODECOV_TOKEN: «[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}»
Terraform Cloud | developer.hashicorp.com/terraform | credentials "app.terraform.io" { token = "«[A-Za-z0-9]{14}.atlasv1.[A-Za-z0-9_-]{67}»" }
Vault batch | developer.hashicorp.com/vault | vault login «hvb.[A-Za-z0-9_-]{140}»
Consul | developer.hashicorp.com/consul | consul members -token=«[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}»
Doppler | docs.doppler.com | doppler run --token «dp.st.prd.[A-Za-z0-9]{43}»
1Password secret key | support.1password.com/secret-key | Secret Key «A3-[A-Z0-9]{6}-[A-Z0-9]{6}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5}»
Infisical | infisical.com/docs | infisical run --token «st.[a-f0-9]{24}.[a-f0-9]{32}.[a-f0-9]{32}»
Sentry user token | docs.sentry.io/account/auth-tokens | sentry-cli --auth-token «sntryu_[a-f0-9]{64}» releases list
Datadog API key | docs.datadoghq.com | DD_API_KEY=«[a-f0-9]{32}» DD_SITE="datadoghq.com"
New Relic user key | docs.newrelic.com | NEW_RELIC user key «NRAK-[A-Z0-9]{27}»
Grafana service account | grafana.com/docs | curl -H "Authorization: Bearer «glsa_[A-Za-z0-9]{32}_[a-f0-9]{8}»" http://grafana.acme.dev/api
Honeycomb | docs.honeycomb.io | x-honeycomb-team: «[A-Za-z0-9]{22}»
PagerDuty | developer.pagerduty.com | --header 'Authorization: Token token=«[A-Za-z0-9_+-]{20}»'
PostHog personal key | posthog.com/docs/api | POSTHOG «phx_[A-Za-z0-9]{43}»
Mixpanel | developer.mixpanel.com | mixpanel api_secret: "«[a-f0-9]{32}»"
Rollbar | docs.rollbar.com | X-Rollbar-Access-Token: «[a-f0-9]{32}»
Atlassian token | support.atlassian.com | curl -u me@acme.dev:«ATATT3xFfGF0[A-Za-z0-9_-]{171}=[A-F0-9]{8}» https://acme.atlassian.net/rest/api/3/project
Linear | developers.linear.app | LINEAR: «lin_api_[A-Za-z0-9]{40}»
Notion legacy | developers.notion.com | notion secret «secret_[A-Za-z0-9]{43}»
ClickUp | clickup.com/api | Authorization: «pk_[0-9]{8}_[A-Z0-9]{32}»
Figma | figma.com/developers/api | X-Figma-Token: «figd_[A-Za-z0-9_-]{40}»
Monday | developer.monday.com | Authorization: «eyJhbGciOiJIUzI1NiJ9.[A-Za-z0-9_-]{150}.[A-Za-z0-9_-]{43}»
HubSpot private app | developers.hubspot.com | hubspot token: «pat-na1-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}»
Zendesk | developer.zendesk.com | curl https://acme.zendesk.com/api/v2/tickets.json -u me@acme.dev/token:«[A-Za-z0-9]{40}»
Box / Contentful CMA | contentful.com/developers | contentful management «CFPAT-[A-Za-z0-9_-]{43}»
Webflow | developers.webflow.com | WEBFLOW_API_TOKEN=«[a-f0-9]{64}»
Facebook | developers.facebook.com | https://graph.facebook.com/me?access_token=«EAA[A-Za-z0-9]{170}»
LinkedIn | learn.microsoft.com/linkedin | client_secret=«WPL_AP1.[A-Za-z0-9]{16}.[A-Za-z0-9+/]{6}==»
Spotify | developer.spotify.com | curl -X POST "https://accounts.spotify.com/api/token" -d "grant_type=client_credentials&client_id=abc&client_secret=«[a-f0-9]{32}»"
Auth0 | auth0.com/docs | AUTH0_CLIENT_SECRET='«[A-Za-z0-9_-]{64}»'
WorkOS | workos.com/docs | workos: «sk_live_[A-Za-z0-9]{60}» in prod
CircleCI | circleci.com/docs | circleci setup --token «CCIPAT_[A-Za-z0-9]{22}_[a-f0-9]{40}»
Tailscale | tailscale.com/kb | tailscale up --auth-key=«tskey-auth-k[A-Za-z0-9]{10}CNTRL-[A-Za-z0-9]{32}»
Postman | learning.postman.com | postman login --with-api-key «PMAK-[a-f0-9]{24}-[a-f0-9]{34}»
Gmail app password | support.google.com/accounts | SMTP_PASSWORD="«[a-z]{4} [a-z]{4} [a-z]{4} [a-z]{4}»"
Kubernetes secret | kubernetes.io/docs/concepts/configuration/secret | kubectl create secret generic db --from-literal=password='«[A-Za-z0-9]{16}»'
Kubeadm | kubernetes.io/docs | kubeadm join 10.0.0.1:6443 --token «[a-z0-9]{6}.[a-z0-9]{16}» --discovery-token-ca-cert-hash sha256:abc
Ansible vault | docs.ansible.com | ansible_become_pass: «[A-Za-z0-9]{14}»
Django | docs.djangoproject.com | SECRET_KEY = 'django-insecure-«[a-z0-9@#$%^&*(_=+)-]{50}»'
Flask | flask.palletsprojects.com | app.config['SECRET_KEY'] = '«[a-f0-9]{64}»'
WireGuard | wireguard.com | PrivateKey = «[A-Za-z0-9+/]{43}=»
netrc | gnu.org/software/inetutils | machine api.heroku.com login me@acme.dev password «[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}»`,
  second: String.raw`
Stripe restricted key | docs.stripe.com/keys | Use the restricted key «rk_live_[A-Za-z0-9]{99}» for the worker
GitHub classic token | docs.github.com/authentication | git clone https://«ghp_[A-Za-z0-9]{36}»@github.com/acme/app.git
GitHub app token | docs.github.com/apps | it answered with token «ghs_[A-Za-z0-9]{36}», expires in an hour
GitLab deploy token | docs.gitlab.com/security/tokens | docker login -u gitlab+deploy-token-1 -p «gldt-[A-Za-z0-9_-]{20}» registry.example.com
GitLab routable token | docs.gitlab.com/security/tokens | my token is «glpat-[A-Za-z0-9_-]{27}.[0-9a-z]{2}.[0-9a-z]{9}»
AWS session token | docs.aws.amazon.com/sts | export AWS_SESSION_TOKEN=«IQoJb3JpZ2luX2Vj[A-Za-z0-9/+]{300}==»
Google API key | cloud.google.com/docs/authentication/api-keys | https://maps.googleapis.com/maps/api/geocode/json?address=x&key=«AIzaSy[A-Za-z0-9_-]{33}»
Google OAuth access token | developers.google.com/identity/protocols/oauth2 | curl -H "Authorization: Bearer «ya29.[A-Za-z0-9_-]{160}»" https://www.googleapis.com/drive/v2/files
Azure storage key | learn.microsoft.com/azure/storage | DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=«[A-Za-z0-9+/]{86}==»;EndpointSuffix=core.windows.net
Azure app client secret | learn.microsoft.com/entra | the client secret value is «[A-Za-z0-9]{3}8Q~[A-Za-z0-9_~.-]{34}»
Azure Cosmos DB | learn.microsoft.com/azure/cosmos-db | AccountEndpoint=https://acme.documents.azure.com:443/;AccountKey=«[A-Za-z0-9+/]{76}ACDb[A-Za-z0-9+/]{6}==»;
Azure OpenAI | learn.microsoft.com/azure/ai-services/openai | curl $ENDPOINT/openai/deployments/gpt/chat -H "api-key: «[a-f0-9]{32}»"
OpenAI project key | platform.openai.com/docs/api-reference/authentication | OPENAI_API_KEY=«sk-proj-[A-Za-z0-9_-]{74}T3BlbkFJ[A-Za-z0-9_-]{74}»
Anthropic API key | docs.anthropic.com/en/api | curl https://api.anthropic.com/v1/messages --header "x-api-key: «sk-ant-api03-[A-Za-z0-9_-]{93}AA»"
Hugging Face | huggingface.co/docs/hub/security-tokens | huggingface-cli login --token «hf_[A-Za-z]{34}»
xAI | docs.x.ai | export XAI_API_KEY="«xai-[A-Za-z0-9]{80}»"
Replicate | replicate.com/docs | export REPLICATE_API_TOKEN=«r8_[A-Za-z0-9]{37}»
Cohere | docs.cohere.com | co = cohere.ClientV2("«[A-Za-z0-9]{40}»")
Together | docs.together.ai | TOGETHER_API_KEY=«[a-f0-9]{64}»
DeepSeek | api-docs.deepseek.com | api key: «sk-[a-f0-9]{32}»
NVIDIA NIM | docs.nvidia.com/nim | export NGC_API_KEY=«nvapi-[A-Za-z0-9_-]{64}»
Deepgram | developers.deepgram.com | --header 'Authorization: Token «[a-f0-9]{40}»'
LangSmith | docs.smith.langchain.com | LANGSMITH_API_KEY="«lsv2_pt_[a-f0-9]{32}_[a-f0-9]{10}»"
Pinecone | docs.pinecone.io | pc = Pinecone(api_key="«pcsk_[A-Za-z0-9]{6}_[A-Za-z0-9]{63}»")
Tavily | docs.tavily.com | TavilyClient("«tvly-dev-[A-Za-z0-9]{32}»")
Firecrawl | docs.firecrawl.dev | Firecrawl key «fc-[a-f0-9]{32}»
Voyage | docs.voyageai.com | voyage: «pa-[A-Za-z0-9_-]{43}»
Cloudflare global key | developers.cloudflare.com/fundamentals/api | --header "X-Auth-Key: «[a-f0-9]{37}»"
Cloudflare Tunnel | developers.cloudflare.com/cloudflare-one | cloudflared service install «eyJhIjoi[A-Za-z0-9]{160}»
Heroku | devcenter.heroku.com | heroku token «HRKU-AA[A-Za-z0-9_-]{58}»
Netlify | docs.netlify.com | NETLIFY_AUTH_TOKEN=«nfp_[A-Za-z0-9]{36}»
Render | render.com/docs/api | key for Render is «rnd_[A-Za-z0-9]{28}»
Supabase | supabase.com/docs/guides/api/api-keys | SUPABASE_SECRET «sb_secret_[A-Za-z0-9_-]{22}_[A-Za-z0-9_-]{8}»
Neon | neon.tech/docs | psql 'postgresql://alex:«npg_[A-Za-z0-9]{12}»@ep-cool-1.us-east-2.aws.neon.tech/db'
PlanetScale token | planetscale.com/docs | pscale connect with service token «pscale_tkn_[A-Za-z0-9_-]{43}»
Turso | docs.turso.tech | TURSO_AUTH_TOKEN=«eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9.[A-Za-z0-9_-]{120}.[A-Za-z0-9_-]{86}»
MongoDB Atlas service account | mongodb.com/docs/atlas | client secret «mdb_sa_sk_[A-Za-z0-9_-]{40}»
Redis | redis.io/docs | redis-cli -h cache.acme.dev -a «[A-Za-z0-9]{32}» ping
PostgreSQL passfile | postgresql.org/docs/current/libpq-pgpass | the .pgpass line is db.acme.dev:5432:app:app:«[A-Za-z0-9]{16}»
Elastic | elastic.co/guide | curl -H "Authorization: ApiKey «[A-Za-z0-9]{58}==»" https://es.acme.dev
Snowflake | docs.snowflake.com | snowsql -a acme -u app, password = «[A-Za-z0-9]{16}»
Kafka SASL | kafka.apache.org/documentation | sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="app" password="«[A-Za-z0-9]{18}»";
Slack app token | api.slack.com/authentication/token-types | socket mode uses «xapp-1-A[A-Z0-9]{10}-[0-9]{13}-[a-f0-9]{64}»
Slack config token | api.slack.com/reference/manifests | «xoxe.xoxp-1-[A-Za-z0-9]{146}»
Discord webhook | discord.com/developers/docs/resources/webhook | https://discord.com/api/webhooks/1012345678901234567/«[A-Za-z0-9_-]{68}»
Teams webhook | learn.microsoft.com/microsoftteams | https://acme.webhook.office.com/webhookb2/0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f@0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f/IncomingWebhook/«[a-f0-9]{32}»/0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f
Twilio API key | twilio.com/docs/iam/api-keys | curl -X GET api.twilio.com -u "SK«[a-f0-9]{32}:[A-Za-z0-9]{32}»"
Mailgun | documentation.mailgun.com | curl -s --user 'api:«key-[a-f0-9]{32}»' https://api.mailgun.net/v3/acme.dev/messages
Mailchimp | mailchimp.com/developer | Mailchimp key «[a-f0-9]{32}-us21»
Resend | resend.com/docs | const resend = new Resend('«re_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}»');
Plivo / Vonage | developer.vonage.com | VONAGE_API_SECRET="«[A-Za-z0-9]{16}»"
Shopify app secret | shopify.dev/docs/apps | shopify app env: «shpss_[a-f0-9]{32}»
PayPal | developer.paypal.com | curl -v https://api-m.paypal.com/v1/oauth2/token -u "AYsqs9abc123DEF:«E[A-Za-z0-9_-]{79}»" -d "grant_type=client_credentials"
Plaid | plaid.com/docs | PLAID_SECRET=«[a-f0-9]{30}»
Adyen | docs.adyen.com | adyen api key is «AQE[A-Za-z0-9]{10}h[A-Za-z0-9+/]{60}-[A-Za-z0-9+/]{40}=-[A-Za-z0-9]{16}»
Lemon Squeezy | docs.lemonsqueezy.com | LEMONSQUEEZY_API_KEY=«eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiJ9.[A-Za-z0-9_-]{400}.[A-Za-z0-9_-]{680}»
npm | docs.npmjs.com | //registry.npmjs.org/:_authToken=«npm_[A-Za-z0-9]{36}»
PyPI | pypi.org/help | twine upload -u __token__ -p «pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{150}» dist/*
crates.io | doc.rust-lang.org/cargo | cargo login «cio[A-Za-z0-9]{32}»
Maven settings | maven.apache.org/settings | <server><id>releases</id><username>ci</username><password>«[A-Za-z0-9]{20}»</password></server>
Docker Hub PAT | docs.docker.com/security | echo «dckr_pat_[A-Za-z0-9_-]{27}» | docker login -u acme --password-stdin
JFrog | jfrog.com/help | curl -H "X-JFrog-Art-Api: «AKCp[A-Za-z0-9]{69}»" https://acme.jfrog.io/artifactory/api/system/ping
Sonar | docs.sonarsource.com | sonar-scanner -Dsonar.token=«sqp_[a-f0-9]{40}»
Snyk | docs.snyk.io | snyk auth «[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}»
Vault | developer.hashicorp.com/vault | VAULT_TOKEN="«hvs.[A-Za-z0-9_-]{95}»"
Vault unseal key | developer.hashicorp.com/vault | Unseal Key 1: «[A-Za-z0-9+/]{43}=»
Pulumi | pulumi.com/docs | PULUMI_ACCESS_TOKEN is «pul-[a-f0-9]{40}»
1Password service account | developer.1password.com | export OP_SERVICE_ACCOUNT_TOKEN=«ops_eyJ[A-Za-z0-9]{300}»
Bitwarden | bitwarden.com/help/secrets-manager | BWS_ACCESS_TOKEN=«0.[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}.[A-Za-z0-9]{30}:[A-Za-z0-9+/]{22}==»
age | age-encryption.org | «AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}»
Sentry org token | docs.sentry.io/account/auth-tokens | SENTRY_AUTH_TOKEN=«sntrys_eyJ[A-Za-z0-9]{140}_[A-Za-z0-9]{43}»
Datadog app key | docs.datadoghq.com | -H "DD-APPLICATION-KEY: «[a-f0-9]{40}»"
New Relic license key | docs.newrelic.com | license_key: «[a-f0-9]{36}NRAL»
Grafana Cloud | grafana.com/docs | basic auth password «glc_eyJ[A-Za-z0-9]{110}==»
Honeycomb ingest key | docs.honeycomb.io | the ingest key is «hcaik_[a-z0-9]{58}»
Opsgenie | docs.opsgenie.com | Authorization: GenieKey «[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}»
Segment | segment.com/docs | SEGMENT_WRITE_KEY=«[A-Za-z0-9]{32}»
Algolia | algolia.com/doc | algoliasearch('ABCDE12345', '«[a-f0-9]{32}»')
Better Stack / Logtail | betterstack.com/docs | new Logtail("«[A-Za-z0-9]{24}»")
Bitbucket app password | support.atlassian.com/bitbucket-cloud | git clone https://me:«ATBB[A-Za-z0-9]{32}»@bitbucket.org/acme/app.git
Notion | developers.notion.com | const notion = new Client({ auth: "«ntn_[A-Za-z0-9]{46}»" })
Asana | developers.asana.com | asana token «1/[0-9]{16}:[a-f0-9]{32}»
Airtable | airtable.com/developers | airtable «pat[A-Za-z0-9]{14}.[a-f0-9]{64}»
Miro | developers.miro.com | MIRO_ACCESS_TOKEN=«eyJtaXJvLm9yaWdpbiI6ImV1MDEifQ_[A-Za-z0-9_-]{27}»
Intercom | developers.intercom.com | intercom bearer «dG9rO[A-Za-z0-9]{55}=»
Salesforce | developer.salesforce.com | sf session: Authorization: Bearer 00D«[A-Za-z0-9]{12}![A-Za-z0-9._]{96}»
Dropbox | dropbox.com/developers | dropbox «sl.[A-Za-z0-9_-]{135}»
Sanity | sanity.io/docs | SANITY_API_TOKEN="«sk[A-Za-z0-9]{80}»"
Mapbox secret | docs.mapbox.com | mapbox secret token «sk.eyJ1Ijoi[A-Za-z0-9]{50}.[A-Za-z0-9_-]{22}»
Twitter bearer | developer.x.com | bearer «AAAAAAAAAAAAAAAAAAAAA[A-Za-z0-9%]{80}»
Twitch | dev.twitch.tv/docs | Client-Secret: «[a-z0-9]{30}»
Okta | developer.okta.com | Authorization: SSWS «00[A-Za-z0-9_-]{40}»
Clerk | clerk.com/docs | CLERK_SECRET_KEY=«sk_live_[A-Za-z0-9]{40}»
LaunchDarkly | docs.launchdarkly.com | LD sdk key «sdk-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}»
Buildkite | buildkite.com/docs | buildkite «bkua_[a-f0-9]{40}»
ngrok | ngrok.com/docs | ngrok config add-authtoken «2[A-Za-z0-9]{26}_[A-Za-z0-9]{21}»
WordPress app password | developer.wordpress.org | curl --user "admin:«[A-Za-z0-9]{4} [A-Za-z0-9]{4} [A-Za-z0-9]{4} [A-Za-z0-9]{4} [A-Za-z0-9]{4} [A-Za-z0-9]{4}»" https://acme.dev/wp-json/wp/v2/posts
SSH private key | man.openbsd.org/ssh-keygen | -----BEGIN OPENSSH PRIVATE KEY-----\n«[A-Za-z0-9+/]{70}\n[A-Za-z0-9+/]{70}»\n-----END OPENSSH PRIVATE KEY-----
Kubeconfig | kubernetes.io/docs | client-key-data: «LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ[A-Za-z0-9+/]{200}==»
Helm | helm.sh/docs | helm install db bitnami/postgresql --set auth.postgresPassword=«[A-Za-z0-9]{16}»
Rails | guides.rubyonrails.org | RAILS_MASTER_KEY=«[a-f0-9]{32}»
Laravel | laravel.com/docs | APP_KEY=base64:«[A-Za-z0-9+/]{43}=»
NextAuth | next-auth.js.org | NEXTAUTH_SECRET="«[A-Za-z0-9+/]{43}=»"
JWT session | jwt.io | Cookie: session=«eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.[A-Za-z0-9_-]{80}.[A-Za-z0-9_-]{43}»`,
  third: String.raw`
Hashnode | apidocs.hashnode.com | Authorization: «[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}»
DeepL | developers.deepl.com | --header 'Authorization: DeepL-Auth-Key «[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}:fx»'
OpenWeather | openweathermap.org/api | https://api.openweathermap.org/data/2.5/weather?q=Oslo&appid=«[a-f0-9]{32}»
NewsAPI | newsapi.org/docs | https://newsapi.org/v2/everything?q=x&apiKey=«[a-f0-9]{32}»
Etherscan | docs.etherscan.io | https://api.etherscan.io/api?module=account&apikey=«[A-Z0-9]{34}»
Infura | docs.metamask.io | const PROVIDER = "https://mainnet.infura.io/v3/«[a-f0-9]{32}»"
Alchemy | docs.alchemy.com | https://eth-mainnet.g.alchemy.com/v2/«[A-Za-z0-9_-]{32}»
Pusher | pusher.com/docs | PUSHER_APP_SECRET=«[a-f0-9]{20}»
Ably | ably.com/docs | new Ably.Realtime('«[A-Za-z0-9_-]{6}.[A-Za-z0-9_-]{6}:[A-Za-z0-9_-]{43}»')
Stream | getstream.io | STREAM_API_SECRET=«[a-z0-9]{64}»
Mux | docs.mux.com | MUX_TOKEN_SECRET=«[A-Za-z0-9/+]{75}»
Zoom | developers.zoom.us | ZOOM_CLIENT_SECRET=«[A-Za-z0-9]{32}»
Asana OAuth | developers.asana.com | client_secret=«[a-f0-9]{32}»
Trello | developer.atlassian.com | https://api.trello.com/1/members/me?key=«[a-f0-9]{32}»&token=«ATTA[a-f0-9]{64}[A-F0-9]{8}»
Jira server | developer.atlassian.com | Authorization: Bearer «[A-Za-z0-9+/]{44}»
Jenkins | jenkins.io/doc | curl -u ada:«11[a-f0-9]{32}» https://ci.acme.dev/job/x/build
TeamCity | jetbrains.com/help | Authorization: Bearer «eyJ0eXAiOiAiVENWMiJ9.[A-Za-z0-9_-]{36}.[A-Za-z0-9]{48}»
Drone | docs.drone.io | export DRONE_TOKEN=«[A-Za-z0-9]{32}»
Travis | docs.travis-ci.com | travis login --github-token «gho_[A-Za-z0-9]{36}»
Semaphore | docs.semaphoreci.com | sem connect acme.semaphoreci.com «[A-Za-z0-9_-]{20}»
Bitrise | devcenter.bitrise.io | curl -H 'Authorization: «[A-Za-z0-9_-]{86}»' https://api.bitrise.io/v0.1/me
Expo | docs.expo.dev | EXPO_TOKEN=«[A-Za-z0-9_-]{40}» eas build
Firebase admin | firebase.google.com/docs | "private_key": "-----BEGIN PRIVATE KEY-----\n«[A-Za-z0-9+/]{64}\n[A-Za-z0-9+/]{64}»\n-----END PRIVATE KEY-----\n",
FCM | firebase.google.com/docs | Authorization:key=«AAAA[A-Za-z0-9_-]{7}:APA91b[A-Za-z0-9_-]{134}»
APNs | developer.apple.com | AuthKey body -----BEGIN PRIVATE KEY-----\n«[A-Za-z0-9+/]{64}»\n-----END PRIVATE KEY-----
reCAPTCHA | developers.google.com/recaptcha | RECAPTCHA_SECRET=«6L[A-Za-z0-9_-]{38}»
hCaptcha | docs.hcaptcha.com | hcaptcha: «ES_[a-f0-9]{32}»
Turnstile | developers.cloudflare.com/turnstile | TURNSTILE_SECRET_KEY=0x4AAAAAA«[A-Za-z0-9_-]{27}»
Lark | open.larksuite.com | app_secret: «[A-Za-z0-9]{32}»
DingTalk | open.dingtalk.com | https://oapi.dingtalk.com/robot/send?access_token=«[a-f0-9]{64}»
WeCom | developer.work.weixin.qq.com | https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=«[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}»
LINE | developers.line.biz | Authorization: Bearer «[A-Za-z0-9+/]{150}=»
Matrix | spec.matrix.org | access_token: "«syt_[A-Za-z0-9]{8}_[A-Za-z0-9]{20}_[A-Za-z0-9]{6}»"
Zulip | zulip.com/api | curl -u ada-bot@acme.dev:«[A-Za-z0-9]{32}» https://acme.zulipchat.com/api/v1/messages
Mattermost | developers.mattermost.com | mattermost webhook https://chat.acme.dev/hooks/«[a-z0-9]{26}»
Sumo Logic | help.sumologic.com | curl -u "su0abcDEF:«[A-Za-z0-9]{64}»" https://api.sumologic.com/api/v1/collectors
Splunk HEC | docs.splunk.com | curl -H "Authorization: Splunk «[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}»"
Loggly | documentation.solarwinds.com | http://logs-01.loggly.com/inputs/«[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}»/tag/http/
Bugsnag | docs.bugsnag.com | Bugsnag.start({ apiKey: '«[a-f0-9]{32}»' })
Amplitude | amplitude.com/docs | amplitude secret key = «[a-f0-9]{32}»
Scaleway | scaleway.com/en/docs | X-Auth-Token: «[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}»
OVH | help.ovhcloud.com | application_secret=«[A-Za-z0-9]{32}»
Vultr | vultr.com/api | Authorization: Bearer «[A-Z0-9]{36}»
Hetzner DNS | dns.hetzner.com | Auth-API-Token: «[A-Za-z0-9]{32}»
Gandi | api.gandi.net | Authorization: Apikey «[A-Za-z0-9]{24}»
Namecheap | namecheap.com/support/api | https://api.namecheap.com/xml.response?ApiUser=a&ApiKey=«[a-f0-9]{32}»&UserName=a
GoDaddy | developer.godaddy.com | Authorization: sso-key dKy8abcdEFGH_abc:«[A-Za-z0-9]{22}»
Fastly | fastly.com/documentation | Fastly-Key: «[A-Za-z0-9_-]{32}»
Bunny | docs.bunny.net | AccessKey: «[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}-[a-f0-9]{4}-[a-f0-9]{4}»
Backblaze | backblaze.com/docs | b2 account authorize 0012ab34cd56ef70000000001 «K001[A-Za-z0-9+/]{27}»
Wasabi/S3 | docs.wasabi.com | s3cmd --access_key=AK --secret_key=«[A-Za-z0-9]{40}» ls
MinIO | min.io/docs | MINIO_ROOT_PASSWORD=«[A-Za-z0-9]{16}»
mc alias | min.io/docs | mc alias set prod https://s3.acme.dev ada «[A-Za-z0-9]{32}»
RabbitMQ | rabbitmq.com/docs | amqps://ada:«[A-Za-z0-9]{20}»@mq.acme.dev/vhost
NATS | docs.nats.io | nats seed «SU[A-Z2-7]{56}»
etcd | etcd.io/docs | etcdctl --user root:«[A-Za-z0-9]{14}» get x
Vault AppRole | developer.hashicorp.com/vault | vault write auth/approle/login role_id=x secret_id=«[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}»
Ansible | docs.ansible.com | ansible-playbook -e "db_password=«[A-Za-z0-9]{14}»" site.yml
Terraform var | developer.hashicorp.com | terraform apply -var="db_password=«[A-Za-z0-9]{14}»"
GPG | gnupg.org | gpg --batch --passphrase «[A-Za-z0-9]{14}» -d a.gpg`,
}

/** The characters of a class such as `A-Za-z0-9_-`. */
function charactersOf(set: string): string[] {
  const characters: string[] = []
  for (let i = 0; i < set.length; i++) {
    const [first, last] = [set.charCodeAt(i), set.charCodeAt(i + 2)]
    if (set[i + 1] !== '-' || i + 2 >= set.length) characters.push(set.charAt(i))
    else {
      for (let code = first; code <= last; code++) characters.push(String.fromCharCode(code))
      i += 2
    }
  }
  return characters
}

/** A pattern of classes and counts, such as `ghp_[A-Za-z0-9]{36}`, filled with random characters. */
const fill = (pattern: string, random: () => number): string =>
  pattern.replace(/\[([^\]]+)\](?:\{(\d+)\})?/g, (_, set: string, count = '1') => {
    const characters = charactersOf(set)
    return Array.from({ length: Number(count) }, () => characters[Math.floor(random() * characters.length)]).join('')
  })

interface ProviderSecret {
  readonly provider: string
  readonly secret: string
  readonly text: string
  /** The text without the secret. */
  readonly around: string
}

/** The secrets of a set, each with a random value. */
export const providerSecrets = (set: string, random: () => number): ProviderSecret[] =>
  set
    .trim()
    .split('\n')
    .map((line) => {
      const [provider = '', , ...parts] = line.split(' | ')
      const form = parts.join(' | ').replaceAll(String.raw`\n`, '\n')
      let secret = ''
      const text = form.replace(/«([^»]*)»/, (_, pattern: string) => {
        secret = fill(pattern, random)
        return secret
      })
      return { provider, secret, text, around: form.replace(/«[^»]*»/, '\u0000') }
    })

const LEAST_LEFT = 8

/** Whether eight consecutive characters of a secret remain in a text. */
export function isLeftIn(clean: string, { secret, around }: ProviderSecret): boolean {
  const rest = clean.replaceAll(/\[redacted:[\w-]+\]/g, '\u0000')
  const length = Math.min(LEAST_LEFT, secret.length)
  for (let i = 0; i + length <= secret.length; i++) {
    const part = secret.slice(i, i + length)
    if (rest.includes(part) && !around.includes(part)) return true
  }
  return false
}
