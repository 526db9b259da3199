package svcwebhook

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// A vector is a case of the files. SVC_VECTORS names another folder of vectors.
type vector struct {
	Why, Outcome, Body, Answer string
	Status                     int
	Secrets                    []string
	Now                        int64
	Headers                    json.RawMessage
	Options                    struct {
		ToleranceSeconds int
		WebhookID        string `json:"webhookId"`
		Families         []string
		UnprefixedSecret bool
	}
}

func vectorsOf(t *testing.T, file string) []vector {
	folder := os.Getenv("SVC_VECTORS")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "packages", "webhook-verify", "vectors")
	}
	text, err := os.ReadFile(filepath.Join(folder, file))
	if err != nil {
		t.Fatal(err)
	}
	var content struct{ Cases []vector }
	if err := json.Unmarshal(text, &content); err != nil {
		t.Fatal(err)
	}
	return content.Cases
}

func (v vector) header(t *testing.T) http.Header {
	header := http.Header{}
	var pairs [][2]string
	if json.Unmarshal(v.Headers, &pairs) == nil {
		for _, pair := range pairs {
			header[pair[0]] = append(header[pair[0]], pair[1])
		}
		return header
	}
	var members map[string]any
	if err := json.Unmarshal(v.Headers, &members); err != nil {
		t.Fatal(err)
	}
	for name, value := range members {
		if one, ok := value.(string); ok {
			header[name] = []string{one}
			continue
		}
		for _, one := range value.([]any) {
			header[name] = append(header[name], one.(string))
		}
	}
	return header
}

func (v vector) body(t *testing.T) []byte {
	body, err := base64.StdEncoding.DecodeString(v.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func (v vector) options() StandardOptions {
	return StandardOptions{
		Options: Options{
			Tolerance: time.Duration(v.Options.ToleranceSeconds) * time.Second,
			WebhookID: v.Options.WebhookID,
			Now:       func() time.Time { return time.Unix(v.Now, 0) },
		},
		Families:         v.Options.Families,
		UnprefixedSecret: v.Options.UnprefixedSecret,
	}
}

// message makes a StandardWebhook a Verifier, for this test.
type message struct{ *StandardWebhook }

func (m message) VerifyRequest(body []byte, header http.Header) (Verified, error) {
	_, err := m.Verify(body, header)
	return Verified{Delivery: &Delivery{}}, err
}

func (v vector) verifier(file string) (verifier Verifier, err error) {
	switch file {
	case "deliveries.json":
		return New(v.Secrets, v.options().Options)
	case "standard-webhooks.json":
		webhook, err := NewStandard(v.Secrets, v.options())
		return message{webhook}, err
	default:
		return NewStandardVerifier(v.Secrets, v.options())
	}
}

func TestVectors(t *testing.T) {
	for _, file := range []string{"deliveries.json", "standard-webhooks.json", "standard-deliveries.json"} {
		for _, v := range vectorsOf(t, file) {
			v := v
			t.Run(file+"/"+v.Why, func(t *testing.T) {
				verifier, err := v.verifier(file)
				if err != nil {
					t.Fatal(err)
				}
				outcome, status := "accepted", http.StatusOK
				verified, err := verifier.VerifyRequest(v.body(t), v.header(t))
				var rejection *VerificationError
				if errors.As(err, &rejection) {
					outcome, status = string(rejection.Code), rejection.Status()
				} else if verified.Delivery == nil {
					outcome = "challenge"
					answer := httptest.NewRecorder()
					request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(string(v.body(t))))
					request.Header = v.header(t)
					(&Handler{Verifier: verifier}).ServeHTTP(answer, request)
					if strings.TrimSpace(answer.Body.String()) != v.Answer {
						t.Errorf("answers %q, expected %q", answer.Body, v.Answer)
					}
				}
				if outcome != v.Outcome || status != v.Status {
					t.Errorf("is %s (%d), expected %s (%d)", outcome, status, v.Outcome, v.Status)
				}
			})
		}
	}
}

func TestEveryCodeHasAVector(t *testing.T) {
	found := map[Code]bool{}
	for _, v := range vectorsOf(t, "deliveries.json") {
		if v.Outcome != "accepted" {
			found[Code(v.Outcome)] = true
		}
	}
	known := map[Code]bool{}
	for code := range messages {
		known[code] = true
	}
	if !reflect.DeepEqual(found, known) {
		t.Errorf("the vectors have %v, the receiver has %v", found, known)
	}
}

// send posts the first vector to a handler and returns the status.
func send(t *testing.T, handler *Handler, extra string) int {
	v := vectorsOf(t, "deliveries.json")[0]
	verifier, err := v.verifier("deliveries.json")
	if err != nil {
		t.Fatal(err)
	}
	handler.Verifier = verifier
	answer := httptest.NewRecorder()
	request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(string(v.body(t))+extra))
	request.Header = v.header(t)
	handler.ServeHTTP(answer, request)
	return answer.Code
}

func TestHandlesAnEventOnce(t *testing.T) {
	var keys []string
	handler := &Handler{Dedup: NewMemoryDedup(), OnDelivery: func(_ context.Context, delivery *Delivery) error {
		keys = append(keys, delivery.Key())
		return nil
	}}
	statuses := []int{send(t, handler, ""), send(t, handler, "")}
	if !reflect.DeepEqual(statuses, []int{200, 200}) || !reflect.DeepEqual(keys, []string{`["whk_1","run_1",3]`}) {
		t.Errorf("%v %v", statuses, keys)
	}
}

func TestRunsAFailedHandlerAgain(t *testing.T) {
	for why, fail := range map[string]func() error{
		"an error": func() error { return errors.New("once") },
		"a panic":  func() error { panic("once") },
	} {
		attempts, failures := 0, 0
		handler := &Handler{
			Dedup:    NewMemoryDedup(),
			OnFailed: func(error, *Delivery) { failures++ },
			OnDelivery: func(context.Context, *Delivery) error {
				if attempts++; attempts == 1 {
					return fail()
				}
				return nil
			},
		}
		statuses := []int{send(t, handler, ""), send(t, handler, ""), send(t, handler, "")}
		if !reflect.DeepEqual(statuses, []int{500, 200, 200}) || attempts != 2 || failures != 1 {
			t.Errorf("%s: %v after %d attempts, %d failures", why, statuses, attempts, failures)
		}
	}
}

func TestAnswers409WhileTheSameEventIsHandled(t *testing.T) {
	inner := 0
	handler := &Handler{Dedup: NewMemoryDedup()}
	handler.OnDelivery = func(context.Context, *Delivery) error {
		inner = send(t, handler, "")
		return nil
	}
	if outer := send(t, handler, ""); outer != 200 || inner != 409 {
		t.Errorf("%d, within it %d", outer, inner)
	}
}

type brokenStore struct{ DedupStore }

func (brokenStore) Claim(context.Context, string) (ClaimState, string, error) {
	return 0, "", errors.New("down")
}

func TestAnswers500WhenTheStoreFailsToClaim(t *testing.T) {
	handler := &Handler{Dedup: brokenStore{}, OnDelivery: func(context.Context, *Delivery) error {
		t.Error("the handler ran")
		return nil
	}}
	if status := send(t, handler, ""); status != 500 {
		t.Error(status)
	}
}

func TestRejectsAChangedBody(t *testing.T) {
	var seen error
	handler := &Handler{OnRejected: func(err error) { seen = err }}
	if status := send(t, handler, " "); status != 401 || !strings.HasPrefix(seen.Error(), "signature_mismatch: ") {
		t.Errorf("%d %v", status, seen)
	}
}

func TestMemoryDedup(t *testing.T) {
	now := time.Unix(0, 0)
	store := NewMemoryDedup()
	store.Capacity, store.TTL, store.ClaimTime = 2, 1000*time.Second, 10*time.Second
	store.Now = func() time.Time { return now }
	ctx := context.Background()
	claim := func(key string, expected ClaimState) string {
		t.Helper()
		state, token, _ := store.Claim(ctx, key)
		if state != expected {
			t.Errorf("%s is %d, expected %d", key, state, expected)
		}
		return token
	}
	first := claim("a", Claimed)
	claim("a", InFlight)
	now = now.Add(10 * time.Second)
	second := claim("a", Claimed)
	_ = store.Release(ctx, "a", first)
	_ = store.Confirm(ctx, "a", first)
	claim("a", InFlight)
	_ = store.Confirm(ctx, "a", second)
	_ = store.Release(ctx, "a", second)
	now = now.Add(999 * time.Second)
	claim("a", Handled)
	now = now.Add(time.Second)
	_ = store.Release(ctx, "a", claim("a", Claimed))
	for _, key := range []string{"a", "b", "c"} {
		_ = store.Confirm(ctx, key, claim(key, Claimed))
	}
	claim("b", Handled)
	claim("c", Handled)
	claim("a", Claimed)
}

func TestInvalidOptionsAreErrorsThatRepeatNoSecret(t *testing.T) {
	of := func(size int) string { return "whsec_" + base64.StdEncoding.EncodeToString(make([]byte, size)) }
	makeStandard := func(secret string, options StandardOptions) error {
		_, err := NewStandard([]string{secret}, options)
		return err
	}
	makeV1 := func(secrets []string, options Options) error {
		_, err := New(secrets, options)
		return err
	}
	for why, err := range map[string]error{
		"no secret":           makeV1(nil, Options{}),
		"an empty secret":     makeV1([]string{"good", ""}, Options{}),
		"white space":         makeV1([]string{"hunter2\n"}, Options{}),
		"a negative time":     makeV1([]string{"hunter2"}, Options{Tolerance: -1}),
		"no prefix":           makeStandard(strings.TrimPrefix(of(32), "whsec_"), StandardOptions{}),
		"no base64":           makeStandard("whsec_hunter2", StandardOptions{UnprefixedSecret: true}),
		"a line break inside": makeStandard(of(32)[:20]+"\n"+of(32)[20:], StandardOptions{}),
		"23 bytes":            makeStandard(of(23), StandardOptions{}),
		"65 bytes":            makeStandard(of(65), StandardOptions{}),
		"no family":           makeStandard(of(32), StandardOptions{Families: []string{}}),
		"an unknown family":   makeStandard(of(32), StandardOptions{Families: []string{"svc"}}),
	} {
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", why, err)
		}
	}
}
