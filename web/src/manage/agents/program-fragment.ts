import { graphql } from 'react-relay';

/** A program of an agent, as the pages show it. */
export const programFragment = graphql`
  fragment programFragment_program on AgentProgram @relay(plural: true) {
    agentId
    name
    packageName
    pinnedVersion
    installedVersion
    source
    path
    isOutdated
    state
    progress
    progressPercent
    error
    keySource
    providers
    canInstall
    isChecking
    hosts {
      workerId
    }
    lastCheck {
      at
      isOk
      ...checkReport_check
    }
  }
`;
