import { graphql } from 'react-relay';

/** All editable fields of an automation, for its form and its page. */
export const automationFragment = graphql`
  fragment automationFragment_automation on Automation {
    id
    automationId
    name
    runAs {
      type
    }
    triggers {
      eventType
      replies
      ... on ScheduleTrigger {
        rule
        timeZone
      }
      ... on IncomingWebhookTrigger {
        conditions {
          any {
            all {
              field
              operator
              value
            }
          }
        }
      }
      ... on EventTrigger {
        conditions {
          any {
            all {
              field
              operator
              value
            }
          }
        }
      }
    }
    actions {
      __typename
      ... on StartSessionAction {
        prompt
        session {
          tags
          playbookId
          repos
          platform
          bypassApproval
          notifications {
            email {
              when
              recipients
            }
            slack {
              when
              channelId
            }
          }
        }
      }
      ... on MessageSessionAction {
        prompt
        targetSessionId
        autoCreate
      }
      ... on MonitorSessionAction {
        setupPrompt
        slackMonitorConfig
      }
    }
    limits {
      maxAcuLimit
      invocations {
        maxPerWindow
        windowSeconds
      }
    }
    concurrency {
      maxConcurrentRuns
      maxQueueDepth
    }
    missedRuns
    jitterSeconds
    metadata
    notifications {
      email {
        when
        recipients
      }
      slack {
        when
        channelId
      }
    }
    sessionSettings {
      sessionMode
      netPolicy {
        allow {
          hostname
          ipv4
          ipv6
        }
      }
    }
    securityProfile {
      profileId
    }
    templateId
    tools {
      mcpServers
      slackChannels
      slackDmScope
      isLinearEnabled
    }
  }
`;
