import { graphql } from 'react-relay';

/** All of an automation that can be changed: what its form begins with, and what its page shows. */
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
      conditions {
        any {
          all {
            field
            operator
            value
          }
        }
      }
      timeZone
      replies
    }
    actions {
      type
      prompt
      targetSessionId
      autoCreate
      setupPrompt
      slackMonitorConfig
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
