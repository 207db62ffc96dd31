# The server for people without Cloudflare: workerd in a container, with its data in a volume. See docs/anywhere.md.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /build
COPY . .
RUN npm ci
RUN npm pack --pack-destination .. && tar -xzf ../*.tgz -C ..

# Built files only, with the versions of the lock file; no scripts of packages are run.
FROM node:24.21.0-bookworm-slim
WORKDIR /app
COPY --from=build /package .
COPY --from=build /build/package-lock.json .
RUN npm ci --omit=dev --ignore-scripts
RUN mkdir -p ../data && chown 1000:1000 ../data
ENV COMMONPLACE_DATA=/data
ENV AUTH_MODE=required
VOLUME /data
USER node
EXPOSE 8787
HEALTHCHECK --start-period=30s --interval=30s --timeout=5s CMD ["node", "-e", "fetch('http://127.0.0.1:8787/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "src/cli/bin.mjs"]
CMD ["start", "--ip", "0.0.0.0", "--port", "8787"]
