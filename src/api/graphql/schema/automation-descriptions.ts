/** Descriptions of the parts of an automation, shared by its types and inputs. */
export const automationDescriptions = {
  name: 'Name of the automation. 1 to 500 characters.',
  isEnabled: 'Whether the triggers start the automation. `runAutomation` also runs disabled automations.',
  triggers: 'Triggers that start the automation. Maximum 20, including at most 5 schedules and 1 incoming webhook.',
  actions: 'Actions that each run performs, in order. 1 to 10, of which at most 1 is a start session action.',
  trigger: 'A schedule, incoming webhook or event that starts an automation.',
  scheduleTrigger: 'A trigger that starts the automation at the times of a recurrence rule.',
  webhookTrigger: 'A trigger that starts the automation when a request is posted to its incoming webhook.',
  eventTrigger:
    'A trigger that starts the automation when an event of a type listed by `automationSchemas` occurs, for example `session:finished`.',
  rule: 'Recurrence rule in the format of RFC 5545, for example `FREQ=WEEKLY;BYDAY=MO;BYHOUR=9;BYMINUTE=0;BYSECOND=0`. The times must be at least 15 minutes apart.',
  eventType: 'Type of the event as listed by `automationSchemas`, for example `session:finished` or `github:push`.',
  conditionsOfTrigger:
    'Conditions that an event must meet to start the automation. Null if every event of the type starts the automation.',
  conditions: 'Groups of conditions, of which at least one group must be met.',
  any: 'Groups of conditions, of which at least one must be met. 1 to 50 groups.',
  group: 'A group of conditions that must all be met.',
  all: 'Conditions of the group, which must all be met. 1 to 50 conditions.',
  condition: 'A comparison of a field of an event with a value.',
  field:
    'Field of the event as listed by `automationSchemas`, for example `tags` of a session event, or a path into the field such as `body.build.state` of a webhook.',
  operator:
    'Operator that compares the field with the value. Must be one that `automationSchemas` lists for the field.',
  value: 'Value to compare the field with. A string, number, boolean, list or null, depending on the operator.',
  timeZone:
    'IANA time zone of the rule, for example `Europe/Berlin`. Null means UTC. `DTSTART` and `UNTIL` without `Z` are local times. If clocks skip a local time, the run starts later by the length of the gap. If a local time occurs twice, only the first counts.',
  replies: 'Replies to the source of the event. Maximum 10. Stored and returned unchanged, but not sent.',
  runAs: 'Owner of the sessions that the automation starts.',
  runAsType: 'Type of the owner of the sessions: the organization, or the user who created the automation.',
  action: 'An action that an automation performs when it runs.',
  startSession: 'An action that starts a session.',
  messageSession: 'An action that sends a message to a session.',
  monitorSession:
    'An action that starts a session to monitor Slack. Must be the only action. It can be saved, but its runs fail because the service is not connected to Slack.',
  prompt: `Prompt for the agent. Maximum 500,000 characters. Can refer to a playbook (@playbook:…), macros (!name), secrets (\${NAME}) and repositories (@owner/name). Unknown playbooks, macros and secrets are refused.`,
  session: 'Options for the session that the action starts.',
  tags: 'Tags of the session. Maximum 50.',
  platform: 'Platform for the session. Stored and returned unchanged, but not used.',
  bypassApproval: 'Whether the session requires no approval. Stored and returned unchanged, but not used.',
  playbookId:
    'Global ID or REST id of the playbook that the session follows. A playbook named in the prompt takes precedence.',
  repos:
    'Repositories that the session is about, for example `acme/site`. Maximum 100. If the prompt names repositories, they replace this list.',
  targetSession: 'Session that receives the message.',
  autoCreate:
    'Whether to start a new session if there is no target session or it no longer accepts messages. The new session then becomes the target session.',
  setupPrompt: 'Prompt for the agent when it starts to monitor. Maximum 500,000 characters.',
  slackMonitorConfig: 'Description of what to monitor in Slack, as a JSON object. Stored and returned unchanged.',
  notifications: 'Notifications about runs of the automation. Stored and returned unchanged, but not sent.',
  email: 'Email notifications about runs. Stored and returned unchanged, but not sent.',
  slack: 'Slack notifications about runs. Stored and returned unchanged, but not sent.',
  when: 'Runs that the recipients are to be notified about.',
  recipients: 'Email addresses of the recipients. Maximum 100.',
  channelId: 'Id of the Slack channel for the notifications.',
  limits: 'Limits on the ACUs of each session and on the number of runs.',
  maxAcuLimit:
    'Maximum number of ACUs that each session of the automation may use, 1 to 1,000. A lower limit of the organization takes precedence. Null if the automation sets no limit.',
  invocations: 'Maximum number of runs within a period. Further runs are skipped.',
  maxPerWindow: 'Maximum number of runs within the period. Minimum 1.',
  windowSeconds: 'Length of the period in seconds. Minimum 60.',
  concurrency: 'Limits on simultaneous runs and on runs that wait in the queue.',
  maxConcurrentRuns:
    'Maximum number of simultaneous runs. A run counts until its session ends, fails or is suspended. Null if there is no limit.',
  maxQueueDepth:
    'Maximum number of runs that wait in the queue while `maxConcurrentRuns` is reached. Further runs are skipped. Null means 100.',
  metadata:
    'Custom data as a JSON object with string values. Maximum 16 members, with names of 1 to 32 and values of at most 128 characters.',
  sessionSettings: 'Settings for the sessions of the automation. Stored and returned unchanged, but not applied.',
  sessionMode: 'Mode for the sessions of the automation. Stored and returned unchanged, but not applied.',
  netPolicy:
    'Network addresses that sessions of the automation may connect to. Stored and returned unchanged, but not enforced.',
  allow: 'Allowed network addresses. Maximum 200, each with exactly one of `hostname`, `ipv4` and `ipv6`.',
  address: 'A hostname or an IP address range that sessions may connect to.',
  hostname: 'Hostname, for example `api.example.com`. Maximum 253 characters.',
  ipv4: 'IPv4 address or range, for example `203.0.113.0/24`.',
  ipv6: 'IPv6 address or range, for example `2001:db8::/32`.',
  securityProfile:
    'Security profile for the sessions of the automation. Stored and returned unchanged, but not applied.',
  profileId: 'Id of the security profile.',
  templateId: 'Id of the template that the automation was created from. Stored and returned unchanged.',
  missedRuns:
    'Policy for scheduled times that were missed by more than five minutes because the service was not running. Null means `LATEST`.',
  jitterSeconds:
    'Maximum delay of scheduled runs in seconds, which spreads automations that are scheduled for the same time. 0 to 900. Null means 0.',
  tools: 'Tools that the sessions of the automation may use. Stored and returned unchanged, but not applied.',
  mcpServers: 'MCP servers that sessions may use. Maximum 100.',
  slackChannels: 'Slack channels that sessions may use. Maximum 100.',
  slackDmScope: 'Scope of the Slack direct messages that sessions may use.',
  isLinearEnabled: 'Whether sessions may use Linear.',
} as const;
