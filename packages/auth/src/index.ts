export type { AcceptedCredentials } from './accepted-credentials.ts';
export type { AddressClass } from './address-class.ts';
export type { AnonymousActorOptions } from './anonymous.ts';
export { anonymousActor, anonymousMayUse } from './anonymous.ts';
export type { Authenticator, AuthenticatorOptions } from './authenticate.ts';
export { authenticator } from './authenticate.ts';
export type { Decision, ScopeRules } from './authorize.ts';
export { authorize } from './authorize.ts';
export type { ChallengedError, DpopChallenge, StepUpChallenge } from './challenge.ts';
export { challenge } from './challenge.ts';
export type { ClaimedCaller } from './claimed-caller.ts';
export type { Credential } from './credential.ts';
export type { AuthorizationDecided, DecisionReason } from './decision.ts';
export { authorizationDecided } from './decision.ts';
export type { CredentialFacts, DenyList, DenyListWriter, Withdrawal, WithdrawalBounds } from './deny-list.ts';
export { isWithdrawn } from './deny-list.ts';
export type { AuthErrorCode, AuthErrorDetails, AuthErrorOptions, RateLimited } from './errors.ts';
export { AUTH_ERROR_STATUS, AuthError } from './errors.ts';
export type { Admittance, Guard, GuardOptions, OptionalGuardOptions } from './guard.ts';
export { guard } from './guard.ts';
export type { Admission, AuthOutcome, Lane, VerifiedCaller } from './lane.ts';
export { isOpaqueId } from './opaque-id.ts';
export type { LaneClass, OnOutcome, OutcomeReport, ReportedClient } from './outcome-report.ts';
export type { ActingParty, Binding, Principal, SignIn, TokenFacts, WorkloadFacts } from './principal.ts';
export type { ProtectedResourceMetadata, ProtectedResourceOptions } from './protected-resource.ts';
export { protectedResourceMetadata, protectedResourceUrl } from './protected-resource.ts';
export type { CredentialQuota, QuotaCounter, QuotaRefusal } from './quota-counter.ts';
export type { Refusal } from './refusal.ts';
export { refusal } from './refusal.ts';
export type { RefusalLimit, VerificationLimit } from './refusal-budgets.ts';
export type { RefusalReason } from './refusal-reason.ts';
export { REFUSAL_REASONS } from './refusal-reason.ts';
export type { Peer, PeerCertificate, RequestHead } from './request-head.ts';
export type {
  Role,
  RoleAssignment,
  RoleAuthorizer,
  RoleAuthorizerOptions,
  RoleDecision,
  RoleDirectory,
} from './roles.ts';
export { memoryRoleDirectory, roleAuthorizer } from './roles.ts';
export type { ImpliedScopes } from './scope-implications.ts';
export { impliedScopes } from './scope-implications.ts';
export type { Scope } from './scopes.ts';
export { grants, isGrantableScope, isScope, SCOPES, scopeVocabulary } from './scopes.ts';
export type { StepUp, StepUpDecision, StepUpOptions } from './step-up.ts';
export { stepUp } from './step-up.ts';
export type { Subject, SubjectOwner, SubjectRules } from './subject.ts';
export { isSameSubject } from './subject.ts';
export type { Tenancy } from './tenancy.ts';
export { reachesWorkspace } from './tenancy.ts';
