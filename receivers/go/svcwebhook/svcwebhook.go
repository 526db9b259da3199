// Package svcwebhook verifies signed deliveries: authentic, fresh and new.
//
// It is one file without dependencies, for Go 1.19 and later. Copy it into your project.
//
//	webhook, err := svcwebhook.New([]string{secret}, svcwebhook.Options{})
//	delivery, err := webhook.Verify(rawBody, request.Header) // a *svcwebhook.VerificationError when it is rejected
//
//	http.Handle("/webhooks", &svcwebhook.Handler{Verifier: webhook, OnDelivery: handle, Dedup: svcwebhook.NewMemoryDedup()})
package svcwebhook

import (
	"bytes"
	"container/list"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Code names the rule that a rejected request broke.
type Code string

const (
	MissingHeader       Code = "missing_header"
	RepeatedHeader      Code = "repeated_header"
	HeaderMismatch      Code = "header_mismatch"
	WebhookIDMismatch   Code = "webhook_id_mismatch"
	MalformedTimestamp  Code = "malformed_timestamp"
	TimestampOutOfRange Code = "timestamp_out_of_range"
	UnknownAlgorithm    Code = "unknown_algorithm"
	MalformedSignature  Code = "malformed_signature"
	SignatureMismatch   Code = "signature_mismatch"
	MalformedBody       Code = "malformed_body"
	EventTypeMismatch   Code = "event_type_mismatch"
)

var messages = map[Code]string{
	MissingHeader:       "a signature header is missing; pass all headers of the request, unfiltered",
	RepeatedHeader:      "a signature header is repeated with different values; look for a proxy that adds headers",
	HeaderMismatch:      "the headers of two families contradict each other; look for a proxy that rewrites one",
	WebhookIDMismatch:   "the delivery is of another subscription; compare its id with Options.WebhookID",
	MalformedTimestamp:  "the timestamp header is not Unix time in whole seconds; check the sender",
	TimestampOutOfRange: "the signing time is too far from now; check the clock of this machine (NTP)",
	UnknownAlgorithm:    "the signature algorithm is not v1, the only one supported; check the sender",
	MalformedSignature:  "the signature header does not have the form of its algorithm; check the sender",
	SignatureMismatch:   "no secret gives this signature; pass the subscription's secret and the raw body",
	MalformedBody:       "the body is signed, but it is not a delivery",
	EventTypeMismatch:   "the event-type header differs from the signed body; look for a proxy that rewrites it",
}

// VerificationError is the rejection of a request. It contains no part of the body, of a header value or of a secret.
type VerificationError struct{ Code Code }

func (e *VerificationError) Error() string { return string(e.Code) + ": " + messages[e.Code] }

// Status is the status of the answer: 400 for a malformed request, 401 for one that is not authentic or not fresh.
func (e *VerificationError) Status() int {
	switch e.Code {
	case SignatureMismatch, TimestampOutOfRange, WebhookIDMismatch:
		return http.StatusUnauthorized
	default:
		return http.StatusBadRequest
	}
}

func rejected(code Code) error { return &VerificationError{code} }

// Delivery is a verified delivery. Every field except WebhookID comes from signed bytes.
type Delivery struct {
	WebhookID   string
	EventType   string
	Timestamp   int64 // the time of signing in Unix seconds
	RunID       string
	WorkspaceID string // empty when the sender names none
	Sequence    int64
	Payload     json.RawMessage
	Event       json.RawMessage // the whole event
}

// Key is the key for deduplication: deliveries of one event to one subscription have the same.
func (d *Delivery) Key() string {
	var key bytes.Buffer
	encoder := json.NewEncoder(&key)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode([]any{d.WebhookID, d.RunID, d.Sequence})
	return strings.TrimSpace(key.String())
}

// Message is a verified message of any sender that signs by Standard Webhooks.
type Message struct {
	ID        string // the same for each attempt: the key for deduplication
	Timestamp int64
	Payload   json.RawMessage // any JSON value
}

// Options are the options of every verifier.
type Options struct {
	// Tolerance is the largest difference between the time of signing and now, inclusive. Default 5 minutes.
	Tolerance time.Duration
	// WebhookID is the only accepted subscription. Default: every subscription.
	WebhookID string
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

func (o Options) withDefaults() (Options, error) {
	if o.Tolerance == 0 {
		o.Tolerance = 5 * time.Minute
	}
	if o.Tolerance < 0 {
		return o, errors.New("Tolerance: must be positive. Leave it out for 5 minutes")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o, nil
}

// Webhook verifies the deliveries of one subscription, by the scheme v1.
type Webhook struct {
	keys    [][]byte
	options Options
}

// New makes a verifier. The secrets are the texts exactly as issued; there are several while a rotation overlaps.
func New(secrets []string, options Options) (*Webhook, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	keys, err := keysOf(secrets, func(secret string) ([]byte, error) { return []byte(secret), nil })
	return &Webhook{keys, options}, err
}

// Verify verifies a delivery. The body is the bytes as received. The error is a *VerificationError.
func (w *Webhook) Verify(body []byte, header http.Header) (*Delivery, error) {
	values, err := singleValues(header, v1Names)
	if err != nil {
		return nil, err
	}
	var required [4]string
	for index, field := range requiredFields {
		value, err := agreed(values, field)
		if err == nil && value == "" {
			err = rejected(MissingHeader)
		}
		if err != nil {
			return nil, err
		}
		required[index] = value
	}
	webhookID, eventType, timestamp, signature := required[0], required[1], required[2], required[3]
	algorithm, err := agreed(values, "signature-algorithm")
	if err != nil {
		return nil, err
	}
	if w.options.WebhookID != "" && webhookID != w.options.WebhookID {
		return nil, rejected(WebhookIDMismatch)
	}
	seconds, err := w.options.fresh(timestamp)
	if err != nil {
		return nil, err
	}
	if algorithm != "" && algorithm != "v1" {
		return nil, rejected(UnknownAlgorithm)
	}
	if !v1Signature.MatchString(signature) {
		return nil, rejected(MalformedSignature)
	}
	claimed := []string{strings.ToLower(strings.TrimPrefix(signature, "sha256="))}
	if !isSigned(w.keys, hex.EncodeToString, timestamp, body, claimed) {
		return nil, rejected(SignatureMismatch)
	}
	return deliveryOf(body, webhookID, eventType, seconds)
}

// VerifyRequest makes a Webhook a Verifier.
func (w *Webhook) VerifyRequest(body []byte, header http.Header) (Verified, error) {
	delivery, err := w.Verify(body, header)
	return Verified{Delivery: delivery}, err
}

// StandardOptions are the options of the verifiers of Standard Webhooks.
type StandardOptions struct {
	Options
	// Families lists the accepted header names: "webhook" for webhook-id, "svix" for svix-id. A request with headers of
	// two accepted families is rejected. Default: webhook.
	Families []string
	// UnprefixedSecret accepts secrets without whsec_.
	UnprefixedSecret bool
}

// StandardWebhook verifies messages of any sender that signs by Standard Webhooks.
type StandardWebhook struct {
	keys    [][]byte
	options StandardOptions
}

// NewStandard makes a verifier of messages. Each secret is whsec_ and the base64 of 24 to 64 bytes.
func NewStandard(secrets []string, options StandardOptions) (*StandardWebhook, error) {
	common, err := options.Options.withDefaults()
	if err != nil {
		return nil, err
	}
	options.Options = common
	if options.Families == nil {
		options.Families = []string{"webhook"}
	}
	seen := map[string]bool{}
	for _, family := range options.Families {
		seen[family] = true
	}
	delete(seen, "webhook")
	delete(seen, "svix")
	if len(options.Families) == 0 || len(options.Families) > 2 || len(seen) > 0 {
		return nil, errors.New("Families: must list webhook, svix or both. Leave it out for webhook")
	}
	keys, err := keysOf(secrets, func(secret string) ([]byte, error) { return standardKey(secret, options.UnprefixedSecret) })
	return &StandardWebhook{keys, options}, err
}

// Verify verifies a message whose body is JSON. The error is a *VerificationError.
func (w *StandardWebhook) Verify(body []byte, header http.Header) (*Message, error) {
	id, seconds, err := w.VerifySignature(body, header)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(body) || !json.Valid(body) {
		return nil, rejected(MalformedBody)
	}
	return &Message{id, seconds, body}, nil
}

// VerifySignature verifies a message without reading its body. It returns its id and the time of signing.
func (w *StandardWebhook) VerifySignature(body []byte, header http.Header) (string, int64, error) {
	id, timestamp, signatures, err := w.read(header)
	if err != nil {
		return "", 0, err
	}
	seconds, err := w.options.fresh(timestamp)
	if err != nil {
		return "", 0, err
	}
	// The signed text of an old message could be split at another dot: its old time in the id, and a number of its body as time.
	if strings.Contains(id, ".") {
		return "", 0, rejected(MalformedSignature)
	}
	claimed, err := standardSignatures(signatures)
	if err != nil {
		return "", 0, err
	}
	if !isSigned(w.keys, base64.StdEncoding.EncodeToString, id+"."+timestamp, body, claimed) {
		return "", 0, rejected(SignatureMismatch)
	}
	return id, seconds, nil
}

func (w *StandardWebhook) read(header http.Header) (id, timestamp, signatures string, err error) {
	present := ""
	isListed := false
	for _, family := range w.options.Families {
		values, err := singleValues(header, []string{family + "-id", family + "-timestamp"})
		if err != nil {
			return "", "", "", err
		}
		list := valuesOf(header, family+"-signature")
		if family == present || len(values) == 0 && len(list) == 0 {
			continue
		}
		if present != "" {
			return "", "", "", rejected(HeaderMismatch)
		}
		present, isListed = family, len(list) > 0
		id, timestamp, signatures = values[family+"-id"], values[family+"-timestamp"], strings.Join(list, " ")
	}
	if id == "" || timestamp == "" || !isListed {
		return "", "", "", rejected(MissingHeader)
	}
	return id, timestamp, signatures, nil
}

// StandardVerifier verifies the deliveries of a subscription that is signed by standard-webhooks-1. It recognises the
// verification of the endpoint too.
type StandardVerifier struct{ webhook *StandardWebhook }

// NewStandardVerifier makes a verifier of deliveries. Each secret is whsec_ and the base64 of 24 to 64 bytes.
func NewStandardVerifier(secrets []string, options StandardOptions) (*StandardVerifier, error) {
	webhook, err := NewStandard(secrets, options)
	return &StandardVerifier{webhook}, err
}

// VerifyRequest verifies a delivery or a challenge. The error is a *VerificationError.
func (v *StandardVerifier) VerifyRequest(body []byte, header http.Header) (Verified, error) {
	_, seconds, err := v.webhook.VerifySignature(body, header)
	if err != nil {
		return Verified{}, err
	}
	if !utf8.Valid(body) || !json.Valid(body) {
		return Verified{}, rejected(MalformedBody)
	}
	// The challenge comes from the signed body alone, so that only the holder of the secret can have a text repeated.
	content := object(body)
	if kind, _ := text(content["type"]); kind == "svc.webhook.verification" {
		challenge, _ := text(content["challenge"])
		if !challengeForm.MatchString(challenge) {
			return Verified{}, rejected(MalformedBody)
		}
		return Verified{Challenge: challenge}, nil
	}
	values, err := singleValues(header, claimNames)
	if err != nil {
		return Verified{}, err
	}
	webhookID, err := agreed(values, "webhook-id")
	if err != nil {
		return Verified{}, err
	}
	eventType, err := agreed(values, "event-type")
	if err != nil {
		return Verified{}, err
	}
	if webhookID == "" {
		return Verified{}, rejected(MissingHeader)
	}
	if only := v.webhook.options.WebhookID; only != "" && webhookID != only {
		return Verified{}, rejected(WebhookIDMismatch)
	}
	delivery, err := deliveryOf(body, webhookID, eventType, seconds)
	return Verified{Delivery: delivery}, err
}

// Verified is a request that is authentic and fresh: a delivery, or the challenge of an endpoint verification.
type Verified struct {
	Delivery  *Delivery
	Challenge string
}

// Verifier judges requests: *Webhook, *StandardVerifier, or your own.
type Verifier interface {
	VerifyRequest(body []byte, header http.Header) (Verified, error)
}

// DedupStore is a memory of handled deliveries. A delivery is claimed before its handler runs. The claim is confirmed
// when the handler succeeds, and released when it fails. A claim that is neither confirmed nor released expires.
type DedupStore interface {
	// Claim claims a delivery. The token identifies the claim when the state is Claimed.
	Claim(ctx context.Context, key string) (state ClaimState, token string, err error)
	Confirm(ctx context.Context, key, token string) error
	Release(ctx context.Context, key, token string) error
}

// ClaimState is the result of a claim.
type ClaimState int

const (
	Claimed  ClaimState = iota // the handler may run
	Handled                    // a handler has succeeded
	InFlight                   // a handler is running, for another delivery of the same event
)

// MemoryDedup is a dedup store in the memory of one process. It forgets the oldest delivery first.
type MemoryDedup struct {
	Capacity  int           // a number of deliveries; default 100 000
	TTL       time.Duration // the time for which a handled delivery is remembered; default 3 days
	ClaimTime time.Duration // the lifetime of an open claim, longer than the slowest handler; default 5 minutes
	Now       func() time.Time

	mutex   sync.Mutex
	entries map[string]*list.Element
	order   *list.List
	claims  int
}

// NewMemoryDedup makes a store with the defaults. Change its fields before its first use.
func NewMemoryDedup() *MemoryDedup {
	return &MemoryDedup{
		Capacity: 100_000, TTL: 72 * time.Hour, ClaimTime: 5 * time.Minute, Now: time.Now,
		entries: map[string]*list.Element{}, order: list.New(),
	}
}

type dedupEntry struct {
	key, token string // the token of a handled delivery is empty
	until      time.Time
}

func (d *MemoryDedup) Claim(_ context.Context, key string) (ClaimState, string, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if known, ok := d.known(key); ok && known.until.After(d.Now()) {
		if known.token == "" {
			return Handled, "", nil
		}
		return InFlight, "", nil
	}
	d.claims++
	token := strconv.Itoa(d.claims)
	d.remember(key, token, d.ClaimTime)
	return Claimed, token, nil
}

func (d *MemoryDedup) Confirm(_ context.Context, key, token string) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if known, ok := d.known(key); !ok || !known.until.After(d.Now()) || known.token == token {
		d.remember(key, "", d.TTL)
	}
	return nil
}

func (d *MemoryDedup) Release(_ context.Context, key, token string) error {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	if known, ok := d.known(key); ok && known.token == token {
		d.forget(d.entries[key])
	}
	return nil
}

func (d *MemoryDedup) known(key string) (dedupEntry, bool) {
	element, ok := d.entries[key]
	if !ok {
		return dedupEntry{}, false
	}
	return element.Value.(dedupEntry), true
}

func (d *MemoryDedup) remember(key, token string, lifetime time.Duration) {
	if element, ok := d.entries[key]; ok {
		d.forget(element)
	}
	d.entries[key] = d.order.PushBack(dedupEntry{key, token, d.Now().Add(lifetime)})
	for oldest := d.order.Front(); oldest != nil; oldest = d.order.Front() {
		if len(d.entries) <= d.Capacity && oldest.Value.(dedupEntry).until.After(d.Now()) {
			break
		}
		d.forget(oldest)
	}
}

func (d *MemoryDedup) forget(element *list.Element) {
	delete(d.entries, d.order.Remove(element).(dedupEntry).key)
}

// Handler receives deliveries over HTTP.
//
// It answers 200 when the delivery was handled now or before, 400 or 401 when it was rejected, 405 to another method
// than POST, 408 and 413 for a body that is too slow or too long, 409 while the same event is being handled, and 500
// when OnDelivery or the dedup store failed, so that the sender tries again.
//
// The ReadTimeout of the http.Server bounds the time for a body.
type Handler struct {
	Verifier Verifier
	// OnDelivery handles a delivery. Its context ends when the sender goes away.
	OnDelivery func(context.Context, *Delivery) error
	// Dedup remembers handled deliveries. Without it, a repeated delivery is handled again.
	Dedup DedupStore
	// OnRejected and OnFailed observe rejections, and errors of OnDelivery and Dedup. Both may be nil.
	OnRejected func(error)
	OnFailed   func(error, *Delivery)
	// MaxBodyBytes bounds the body. Default 1 048 576.
	MaxBodyBytes int64
}

func (h *Handler) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodPost {
		response.Header().Set("Allow", http.MethodPost)
		response.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, status := h.readBody(response, request)
	if status != http.StatusOK {
		response.Header().Set("Connection", "close")
		response.WriteHeader(status)
		return
	}
	verified, err := h.Verifier.VerifyRequest(body, request.Header)
	var rejection *VerificationError
	switch {
	case errors.As(err, &rejection):
		if h.OnRejected != nil {
			h.OnRejected(rejection)
		}
		response.WriteHeader(rejection.Status())
	case err != nil:
		response.WriteHeader(http.StatusInternalServerError)
	case verified.Delivery == nil:
		response.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(response).Encode(map[string]string{"challenge": verified.Challenge})
	default:
		response.WriteHeader(h.handle(request.Context(), verified.Delivery))
	}
}

func (h *Handler) readBody(response http.ResponseWriter, request *http.Request) ([]byte, int) {
	limit := h.MaxBodyBytes
	if limit == 0 {
		limit = 1_048_576
	}
	if request.ContentLength > limit {
		return nil, http.StatusRequestEntityTooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, limit))
	var tooLong *http.MaxBytesError
	var timeout net.Error
	switch {
	case err == nil:
		return body, http.StatusOK
	case errors.As(err, &tooLong):
		return nil, http.StatusRequestEntityTooLarge
	case errors.As(err, &timeout) && timeout.Timeout():
		return nil, http.StatusRequestTimeout
	default:
		return nil, http.StatusBadRequest
	}
}

func (h *Handler) handle(ctx context.Context, delivery *Delivery) int {
	key, token := delivery.Key(), ""
	if h.Dedup != nil {
		state, claimed, err := h.Dedup.Claim(ctx, key)
		switch {
		case err != nil:
			h.failed(err, delivery)
			return http.StatusInternalServerError
		case state == Handled:
			return http.StatusOK
		case state == InFlight:
			return http.StatusConflict
		}
		token = claimed
	}
	err := h.run(ctx, delivery)
	status := http.StatusOK
	if err != nil {
		h.failed(err, delivery)
		status = http.StatusInternalServerError
	}
	if h.Dedup == nil {
		return status
	}
	// The sender may have gone away: its context must not keep the store from learning the result.
	if err == nil {
		err = h.Dedup.Confirm(context.Background(), key, token)
	} else {
		err = h.Dedup.Release(context.Background(), key, token)
	}
	if err != nil {
		// A failure of the store must not make the sender repeat a delivery that was handled.
		h.failed(err, delivery)
	}
	return status
}

// run turns a panic of the handler into an error, so that its claim is released.
func (h *Handler) run(ctx context.Context, delivery *Delivery) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("the handler panicked: %v", cause)
		}
	}()
	return h.OnDelivery(ctx, delivery)
}

func (h *Handler) failed(err error, delivery *Delivery) {
	if h.OnFailed != nil {
		h.OnFailed(err, delivery)
	}
}

// The steps of the recipe.

var (
	requiredFields = []string{"webhook-id", "event-type", "timestamp", "signature"}
	v1Names        = namesOf(append(requiredFields, "signature-algorithm"))
	claimNames     = namesOf([]string{"webhook-id", "event-type"})

	digits            = regexp.MustCompile(`^[0-9]{1,15}$`)
	v1Signature       = regexp.MustCompile(`^sha256=[0-9a-fA-F]{64}$`)
	standardSignature = regexp.MustCompile(`^v1,([A-Za-z0-9+/]{43}=)$`)
	separator         = regexp.MustCompile(`,? +`)
	challengeForm     = regexp.MustCompile(`^[A-Za-z0-9_-]{16,512}$`)
)

func namesOf(fields []string) []string {
	var names []string
	for _, field := range fields {
		names = append(names, "svc-"+field, "x-svc-"+field)
	}
	return names
}

// valuesOf returns the values of a header, however its name is written.
func valuesOf(header http.Header, name string) []string {
	var values []string
	for written, some := range header {
		if strings.EqualFold(written, name) {
			values = append(values, some...)
		}
	}
	return values
}

// singleValues reads headers that have one value. A comma means that a platform has joined two headers.
func singleValues(header http.Header, names []string) (map[string]string, error) {
	values := map[string]string{}
	for _, name := range names {
		for _, value := range valuesOf(header, name) {
			for _, part := range strings.Split(value, ",") {
				one := strings.Trim(part, " \t")
				if one == "" {
					continue
				}
				if present, ok := values[name]; ok && present != one {
					return nil, rejected(RepeatedHeader)
				}
				values[name] = one
			}
		}
	}
	return values, nil
}

// agreed returns the value of the SVC- header, of the X-svc- header, or of both when they agree.
func agreed(values map[string]string, field string) (string, error) {
	svc, xSvc := values["svc-"+field], values["x-svc-"+field]
	if svc != "" && xSvc != "" && svc != xSvc {
		return "", rejected(HeaderMismatch)
	}
	if svc != "" {
		return svc, nil
	}
	return xSvc, nil
}

func (o Options) fresh(timestamp string) (int64, error) {
	if !digits.MatchString(timestamp) {
		return 0, rejected(MalformedTimestamp)
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return 0, rejected(MalformedTimestamp)
	}
	distance := o.Now().Unix() - seconds
	if distance < 0 {
		distance = -distance
	}
	if distance > int64(o.Tolerance/time.Second) {
		return 0, rejected(TimestampOutOfRange)
	}
	return seconds, nil
}

func keysOf(secrets []string, keyOf func(string) ([]byte, error)) ([][]byte, error) {
	if len(secrets) == 0 {
		return nil, errors.New("secrets: must have at least one. Set its environment variable")
	}
	var keys [][]byte
	for _, secret := range secrets {
		if secret == "" {
			return nil, errors.New("secrets: must not be empty. Set its environment variable")
		}
		if strings.TrimSpace(secret) != secret {
			return nil, errors.New("secrets: has white space around one. Pass it exactly as issued")
		}
		key, err := keyOf(secret)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func standardKey(secret string, isPrefixOptional bool) ([]byte, error) {
	encoded := strings.TrimPrefix(secret, "whsec_")
	isMarked := encoded != secret
	// The decoder ignores line breaks, which no secret has.
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || strings.ContainsAny(encoded, "\r\n") || len(key) < 24 || len(key) > 64 || !isMarked && !isPrefixOptional {
		return nil, errors.New("secrets: must be whsec_ followed by the base64 of 24 to 64 bytes. Pass it exactly as issued")
	}
	return key, nil
}

// standardSignatures reads the base64 digests of version v1. A rotation needs two or three; 20 bound the work.
func standardSignatures(text string) ([]string, error) {
	entries := separator.Split(text, 21)
	var claimed []string
	for _, entry := range entries {
		if match := standardSignature.FindStringSubmatch(entry); match != nil {
			claimed = append(claimed, match[1])
		}
	}
	if len(claimed) == 0 || len(entries) > 20 {
		return nil, rejected(MalformedSignature)
	}
	return claimed, nil
}

// isSigned compares in constant time, and tries every pair, so that the duration does not reveal the one that fits.
func isSigned(keys [][]byte, encode func([]byte) string, prefix string, body []byte, claimed []string) bool {
	signed := false
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(prefix + "."))
		mac.Write(body)
		computed := []byte(encode(mac.Sum(nil)))
		for _, claim := range claimed {
			signed = hmac.Equal(computed, []byte(claim)) || signed
		}
	}
	return signed
}

// deliveryOf reads the body. Maps are used because encoding/json matches the fields of a struct in any letter case.
func deliveryOf(body []byte, webhookID, eventType string, timestamp int64) (*Delivery, error) {
	content := object(body)
	if !utf8.Valid(body) || content == nil {
		return nil, rejected(MalformedBody)
	}
	event := object(content["event"])
	runID, hasRun := text(content["runId"])
	eventRun, _ := text(event["runId"])
	kind, hasKind := text(event["type"])
	_, hasTime := text(event["timestamp"])
	sequence, hasSequence := wholeNumber(event["sequence"])
	payload, hasPayload := event["payload"]
	workspace, isNamed := content["workspaceId"]
	workspaceID, isWorkspace := text(workspace)
	isWhole := hasRun && hasKind && hasTime && hasSequence && hasPayload && (isWorkspace || !isNamed)
	if !isWhole || eventRun != runID {
		return nil, rejected(MalformedBody)
	}
	if eventType != "" && eventType != kind {
		return nil, rejected(EventTypeMismatch)
	}
	return &Delivery{webhookID, kind, timestamp, runID, workspaceID, sequence, payload, content["event"]}, nil
}

// object reads a JSON object; nil for anything else.
func object(raw json.RawMessage) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return members
}

// text reads a text that is not empty.
func text(raw json.RawMessage) (string, bool) {
	var value string
	err := json.Unmarshal(raw, &value)
	return value, err == nil && value != ""
}

// wholeNumber reads a number as JavaScript does, which the other receivers follow: 3.0 is 3, and 2^53 is too large.
func wholeNumber(raw json.RawMessage) (int64, bool) {
	if len(raw) == 0 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return 0, false
	}
	value, err := strconv.ParseFloat(string(raw), 64)
	isWhole := err == nil && value == math.Trunc(value) && math.Abs(value) <= 1<<53-1
	return int64(value), isWhole
}
