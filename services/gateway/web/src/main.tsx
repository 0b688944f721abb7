import { render } from "preact";
import { App } from "./app/app";
import { readLook } from "./look";
import { Root } from "./Root";
import "./styles/index.css";

const look = readLook(localStorage);
const root = document.getElementById("app") as HTMLElement;
const app = new App(look, localStorage);

render(<Root app={app} />, root);
app.start();
void app.showLook();
