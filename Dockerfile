# The gateway from a clone: docker build -t laconic .
# .ci/container does the same steps without Docker, and tries the result.

FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION="" COMMIT=""
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags="-s -w -X main.release=$VERSION -X main.commit=$COMMIT" -o /out/laconic ./cmd/laconic
RUN mkdir -p /out/tmp /out/etc/ssl/certs && cp /etc/ssl/certs/ca-certificates.crt /out/etc/ssl/certs/

FROM scratch
COPY --from=build --chown=65532:65532 /out/ /
USER 65532:65532
EXPOSE 8787
HEALTHCHECK CMD ["/laconic", "serve", "--probe", "--listen", ":8787"]
ENTRYPOINT ["/laconic"]
CMD ["serve", "--demo", "--listen", ":8787"]
