// Receives deliveries over HTTP: WEBHOOK_SECRET=… go run . It prints each one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"receiver/svcwebhook"
)

const maxRequests = 200

// handle is the place for your code. When it returns an error, the sender gets 500 and tries again.
func handle(_ context.Context, delivery *svcwebhook.Delivery) error {
	fmt.Printf("received %s of %s #%d\n", delivery.EventType, delivery.RunID, delivery.Sequence)
	return nil
}

func main() {
	log.SetFlags(0)
	host := flag.String("host", "127.0.0.1", "0.0.0.0 lets other machines connect")
	port := flag.Int("port", 8788, "0 takes a free one")
	standard := flag.Bool("standard", false, "the subscription is signed by standard-webhooks-1")
	bodySeconds := flag.Float64("body-seconds", 10, "a slower request is answered 408")
	flag.Parse()
	verifier, err := verifierOf(*standard)
	if err != nil {
		log.Fatalf("WEBHOOK_SECRET: %v", err)
	}
	server := &http.Server{
		Handler: limited(&svcwebhook.Handler{
			Verifier:   verifier,
			OnDelivery: handle,
			Dedup:      svcwebhook.NewMemoryDedup(),
			OnRejected: func(err error) { fmt.Printf("refused: %v\n", err) },
			OnFailed:   func(err error, delivery *svcwebhook.Delivery) { fmt.Printf("failed: %s: %v\n", delivery.RunID, err) },
		}),
		ReadTimeout:    time.Duration(*bodySeconds * float64(time.Second)),
		WriteTimeout:   time.Minute,
		IdleTimeout:    10 * time.Second,
		MaxHeaderBytes: 16_384,
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("%s:%d", *host, *port))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	stopped := make(chan struct{})
	go func() {
		stopOnSignal(server)
		close(stopped)
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
	<-stopped
}

func verifierOf(standard bool) (svcwebhook.Verifier, error) {
	var secrets []string
	for _, name := range []string{"WEBHOOK_SECRET", "WEBHOOK_SECRET_OLDER"} {
		if secret := os.Getenv(name); secret != "" {
			secrets = append(secrets, secret)
		}
	}
	options := svcwebhook.Options{WebhookID: os.Getenv("WEBHOOK_ID")}
	if standard {
		return svcwebhook.NewStandardVerifier(secrets, svcwebhook.StandardOptions{Options: options})
	}
	return svcwebhook.New(secrets, options)
}

// limited serves at most maxRequests at once, so that their bodies fit into memory. The sender repeats a 503.
func limited(handler http.Handler) http.Handler {
	slots := make(chan struct{}, maxRequests)
	return http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			handler.ServeHTTP(response, request)
		default:
			response.WriteHeader(http.StatusServiceUnavailable)
		}
	})
}

// stopOnSignal lets deliveries that are being handled end, for at most 10 seconds.
func stopOnSignal(server *http.Server) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	<-signals
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_ = server.Shutdown(ctx)
}
